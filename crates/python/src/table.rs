//! Result tables: Arrow record batches that Python libraries read through the PyCapsule interface, without a copy.
//!
//! Source: Arrow's PyCapsule interface (`__arrow_c_schema__`, `__arrow_c_stream__`), C stream interface revision 1.0.

use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{
    Decimal128Type, Float64Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

/// A table of results.
///
/// Any library that speaks Arrow's PyCapsule interface reads it without a copy: `polars.DataFrame(table)`,
/// `pyarrow.table(table)`, `pandas.DataFrame.from_arrow(table)`, `duckdb.from_arrow(table)`.
#[pyclass(frozen, module = "sojourn")]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    pub(crate) fn new(batch: RecordBatch) -> Table {
        Table { batch }
    }

    fn schema(&self) -> SchemaRef {
        self.batch.schema()
    }

    fn column(&self, name: &str) -> PyResult<&dyn Array> {
        self.batch
            .column_by_name(name)
            .map(AsRef::as_ref)
            .ok_or_else(|| {
                PyValueError::new_err(format!(
                    "no column {name:?}; columns: {}",
                    self.column_names().join(", ")
                ))
            })
    }
}

#[pymethods]
impl Table {
    /// The names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        let schema = self.schema();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The values of one column.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let column = self.column(name)?;
        let values: Vec<_> = (0..column.len())
            .map(|row| value(py, column, row))
            .collect::<PyResult<_>>()?;
        PyList::new(py, values)
    }

    /// The rows, each a dict from column to value: for small tables and without any library.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let names = self.column_names();
        let rows: Vec<_> = (0..self.batch.num_rows())
            .map(|row| {
                let dict = PyDict::new(py);
                for (name, column) in names.iter().zip(self.batch.columns()) {
                    dict.set_item(name, value(py, column.as_ref(), row)?)?;
                }
                Ok(dict)
            })
            .collect::<PyResult<_>>()?;
        PyList::new(py, rows)
    }

    /// The schema, as a capsule of Arrow's PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema().as_ref()).map_err(arrow_error)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows, as a capsule of Arrow's PyCapsule interface; a requested schema is not cast to.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!(
            "<sojourn.Table: {} rows; {}>",
            self.batch.num_rows(),
            self.column_names().join(", ")
        )
    }
}

/// One value of a column, as Python has it.
fn value<'py>(py: Python<'py>, column: &dyn Array, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into_bound_py_any(py),
        DataType::Boolean => column.as_boolean().value(row).into_bound_py_any(py),
        DataType::UInt8 => column
            .as_primitive::<UInt8Type>()
            .value(row)
            .into_bound_py_any(py),
        DataType::UInt16 => column
            .as_primitive::<UInt16Type>()
            .value(row)
            .into_bound_py_any(py),
        DataType::UInt32 => column
            .as_primitive::<UInt32Type>()
            .value(row)
            .into_bound_py_any(py),
        DataType::UInt64 => column
            .as_primitive::<UInt64Type>()
            .value(row)
            .into_bound_py_any(py),
        DataType::Int64 => column
            .as_primitive::<Int64Type>()
            .value(row)
            .into_bound_py_any(py),
        DataType::Float64 => column
            .as_primitive::<Float64Type>()
            .value(row)
            .into_bound_py_any(py),
        DataType::Decimal128(_, 0) => column
            .as_primitive::<Decimal128Type>()
            .value(row)
            .into_bound_py_any(py),
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            let values: Vec<_> = (0..items.len())
                .map(|i| value(py, items.as_ref(), i))
                .collect::<PyResult<_>>()?;
            values.into_bound_py_any(py)
        }
        other => Err(PyTypeError::new_err(format!(
            "no Python value for Arrow's {other}"
        ))),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err wants")]
fn arrow_error(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
