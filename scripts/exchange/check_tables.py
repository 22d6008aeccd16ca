"""Compares the CSV and Parquet tables, as read by pandas, with the measures. Arguments: RUN CSV PARQUET."""

import sys

import pandas

from frames import Run


def main():
    run = Run(sys.argv[1])
    csv, parquet = pandas.read_csv(sys.argv[2]), pandas.read_parquet(sys.argv[3])
    assert list(csv.columns) == list(parquet.columns)
    rows = [(frame, drop) for frame in run.measures for drop in (frame["drops"] or [None])]
    assert len(csv) == len(parquet) == len(rows), (len(csv), len(parquet), len(rows))
    for k, (frame, drop) in enumerate(rows):
        for table in (csv, parquet):
            row = table.iloc[k]
            assert row["frame"] == frame["frame"] and row["time"] == frame["time"] and row["total_volume"] == frame["total_volume"]
            if drop is None:
                assert pandas.isna(row["id"]) and pandas.isna(row["volume"])
                continue
            assert row["id"] == drop["id"] and row["volume"] == drop["volume"] and row["centroid_y"] == drop["centroid"][1]
            assert row["max_z"] == drop["bounds"][1][2] and row["surface_area"] == drop["surface_area"]
            angle = drop["contact_angle_deg"]
            found = row["contact_angle_mean_deg"]
            assert pandas.isna(found) if angle is None else found == angle["mean"], (found, angle)
            assert pandas.isna(row["on"]) if drop["on"] is None else row["on"] == drop["on"]
    print(f"tables: {len(rows)} rows equal in CSV and Parquet, {len(csv.columns)} columns")


main()
