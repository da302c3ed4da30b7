"""Hourly values, aggregates and the onset of ARDS, from the measurements of one part."""

import duckdb
import pyarrow as pa

from deepcac_study.sources.mimic3.admissions import DAY_HOURS
from deepcac_study.sources.mimic3.items import variable_names

# Berlin definition (JAMA 2012;307:2526), as far as charted: PaO2/FiO2 <= 300 mmHg at PEEP >= 5.
MAX_PF_RATIO, MIN_PEEP = 300, 5
# A ventilator setting is taken to hold this long after it was charted.
SETTING_MINUTES = 8 * 60


def load_part(connection: duckdb.DuckDBPyConnection, measurements: str) -> pa.Table:
    """Create the table `measured` of one part: one plausible value per stay, variable and minute.

    `measurements` is a table expression of `scan.part_sql`. Returns the part's counts: variable,
    values and implausible.
    """
    # Two items of one variable may be charted in the same minute: their median is one value.
    connection.execute(
        "CREATE OR REPLACE TABLE measured AS SELECT stay_id, variable, minute, "
        f"median(value) AS value FROM {measurements} WHERE plausible GROUP BY ALL"
    )
    return connection.sql(
        "SELECT variable, count(*) AS n_values, count_if(NOT plausible) AS n_implausible "
        f"FROM {measurements} GROUP BY variable ORDER BY variable"
    ).to_arrow_table()


def onsets(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Return stay_id and onset_minute of the stays that meet the charted Berlin criteria.

    An arterial gas counts if the last FiO2 and the last PEEP before it are not older than 8 hours,
    PaO2/FiO2 is at most 300 mmHg and PEEP at least 5 cmH2O; the first such gas is the onset.
    """
    index = {name: number for number, name in enumerate(variable_names())}
    series = {
        name: f"(SELECT stay_id, minute, value FROM measured WHERE variable = {index[name]})"
        for name in ("PaO2", "FiO2", "PEEP")
    }
    return connection.sql(
        f"""
        SELECT gas.stay_id, min(gas.minute) AS onset_minute
        FROM {series["PaO2"]} AS gas
        ASOF JOIN {series["FiO2"]} AS oxygen
            ON gas.stay_id = oxygen.stay_id AND gas.minute >= oxygen.minute
        ASOF JOIN {series["PEEP"]} AS pressure
            ON gas.stay_id = pressure.stay_id AND gas.minute >= pressure.minute
        WHERE gas.minute - oxygen.minute <= {SETTING_MINUTES}
            AND gas.minute - pressure.minute <= {SETTING_MINUTES}
            AND gas.value / oxygen.value <= {MAX_PF_RATIO} AND pressure.value >= {MIN_PEEP}
        GROUP BY gas.stay_id ORDER BY gas.stay_id
        """
    ).to_arrow_table()


def hourly(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Return stay_id, variable, hour (0..23), value (median of the hour) and its count."""
    return connection.sql(
        "SELECT stay_id, variable, CAST(minute // 60 AS TINYINT) AS hour, median(value) AS value, "
        f"CAST(count(*) AS SMALLINT) AS n FROM measured WHERE minute < {60 * DAY_HOURS} "
        "GROUP BY ALL ORDER BY stay_id, variable, hour"
    ).to_arrow_table()


def summary(connection: duckdb.DuckDBPyConnection, *, whole_stay: bool) -> pa.Table:
    """Return stay_id, variable, its five aggregates and filled_median, from `measured` and `stays`.

    They are over the first 24 hours, or with `whole_stay` up to discharge, as in the published
    program (switch S1). filled_median is the median of the hourly series after it is filled
    backwards inside the first 24 hours and forwards to the end (S2). The other four aggregates of
    the filled series are those of the measured one.
    """
    end = "hours" if whole_stay else f"least(hours, {DAY_HOURS})"
    return connection.sql(_SUMMARY.format(end=end, day=DAY_HOURS)).to_arrow_table()


# The filled series is never written out: an hourly value weighs as many hours as it fills, and
# the median of the filled series is the weighted median (the mean of the lower and the upper).
_SUMMARY = """
WITH seen AS (
    SELECT stay_id, variable, minute, value, CAST(ceil({end}) AS INTEGER) AS end_hour
    FROM measured JOIN (SELECT stay_id, hours FROM stays) USING (stay_id)
    WHERE minute < 60 * {end}
),
by_hour AS (
    SELECT stay_id, variable, minute // 60 AS hour, any_value(end_hour) AS end_hour,
        median(value) AS value
    FROM seen GROUP BY stay_id, variable, hour
),
weighted AS (
    SELECT stay_id, variable, value,
        lead(hour, 1, end_hour) OVER series - hour
        + CASE WHEN row_number() OVER series = 1 AND hour < {day} THEN hour ELSE 0 END AS weight
    FROM by_hour
    WINDOW series AS (PARTITION BY stay_id, variable ORDER BY hour)
),
ranked AS (
    SELECT stay_id, variable, value,
        sum(weight) OVER (
            PARTITION BY stay_id, variable ORDER BY value ROWS UNBOUNDED PRECEDING
        ) AS below,
        sum(weight) OVER (PARTITION BY stay_id, variable) AS total
    FROM weighted
),
filled AS (
    SELECT stay_id, variable,
        (min(value) FILTER (2 * below >= total) + min(value) FILTER (2 * below > total)) / 2
            AS filled_median
    FROM ranked GROUP BY stay_id, variable
)
SELECT stay_id, variable,
    arg_min(value, minute) AS first, arg_max(value, minute) AS last,
    min(value) AS lowest, max(value) AS highest, median(value) AS median,
    any_value(filled_median) AS filled_median
FROM seen JOIN filled USING (stay_id, variable)
GROUP BY stay_id, variable ORDER BY stay_id, variable
"""
