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

/// A table of results, behind `sojourn.Table`.
#[pyclass(frozen, module = "sojourn._core")]
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

    /// The name and the type of each column.
    #[getter]
    fn schema_names(&self) -> Vec<(String, String)> {
        let schema = self.schema();
        let described = schema.fields().iter();
        described
            .map(|field| (field.name().clone(), type_name(field.data_type())))
            .collect()
    }

    /// At most `count` rows from the row `start` on.
    fn rows(&self, start: usize, count: usize) -> Table {
        let start = start.min(self.batch.num_rows());
        let count = count.min(self.batch.num_rows() - start);
        Table::new(self.batch.slice(start, count))
    }

    /// The values of one column, or `None` where there is no such column.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyList>>> {
        let Some(column) = self.batch.column_by_name(name) else {
            return Ok(None);
        };
        let values: Vec<_> = (0..column.len())
            .map(|row| value(py, column.as_ref(), row))
            .collect::<PyResult<_>>()?;
        PyList::new(py, values).map(Some)
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
}

/// The name of a type, as polars and pyarrow write it but in small letters.
fn type_name(kind: &DataType) -> String {
    match kind {
        DataType::Utf8 => "string".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        DataType::List(item) => format!("list[{}]", type_name(item.data_type())),
        DataType::Decimal128(digits, scale) => format!("decimal128({digits}, {scale})"),
        other => other.to_string().to_lowercase(),
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
