"""Tables: columns by name, for NumPy, pandas, polars and pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _sessile


class Table:
    """A table of named columns.

    `table["height"]` is a NumPy array (NaN or None where there is no value). It has the Arrow PyCapsule interface:
    `pandas.DataFrame.from_arrow(table)`, `polars.DataFrame(table)` and `pyarrow.table(table)` take it as it is, and
    `table.to_pandas()` works with any pandas.
    """

    def __init__(self, columns: _sessile.Columns) -> None:
        self._columns = columns

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self._columns.names

    def __getitem__(self, name: str) -> NDArray[Any]:
        values = self._columns.column(name)
        if any(isinstance(value, str) for value in values):
            return np.array(values, dtype=object)
        if any(value is None for value in values) or any(isinstance(value, float) for value in values):
            return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        return np.array(values, dtype=np.int64 if values else np.float64)

    def __len__(self) -> int:
        return len(self._columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """All columns as arrays."""
        return {name: self[name] for name in self.columns}

    def to_pandas(self) -> Any:
        """The table as a pandas data frame."""
        pandas: Any = __import__("pandas")
        return pandas.DataFrame(self.to_dict())

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self._columns.__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._columns.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<Table: {len(self)} rows, columns {', '.join(self.columns)}>"
