//! The parameters of a QUIC-like flow, read into a plan from which its ends are made.

use crate::entry::Resolved;
use crate::flow::arguments::{
    CC, check_keys, own_dialect, pairs_of, refuse_without_marks, unknown_control,
};
use crate::flow::control::make;
use crate::timed::Timed;
use sojourn_cc::{CongestionControl, EcnUse, registry as cc};
use sojourn_sim::Stream;
use sojourn_transport::{QuicConfig, QuicParams, QuicReceiver, QuicSender};
use sojourn_units::{ParamError, ParamValue, Params, Spec, Time};

/// The name of these flows.
pub(crate) const QUIC: &str = "quic";

/// The congestion control of a QUIC-like flow (RFC 9002 section 7).
const DEFAULT_CC: &str = "reno";

/// A QUIC-like flow whose parameters have been read. It makes any number of endpoints.
pub(crate) struct QuicPlan {
    pub(super) params: QuicParams,
    control: cc::Maker,
    pub(super) parts: Vec<(&'static str, Resolved)>,
}

impl QuicPlan {
    /// The parts without the data: each by name, with its dialect and parameters resolved.
    pub(crate) fn parts(&self) -> &[(&'static str, Resolved)] {
        &self.parts
    }

    /// Bytes of headers on the wire.
    pub(crate) fn headers(&self) -> u32 {
        u32::try_from(self.params.headers.get()).unwrap_or(u32::MAX)
    }

    pub(crate) fn sender(
        &self,
        flow: u32,
        source: Timed,
        rng: Stream,
        start: Time,
        stop: Option<Time>,
    ) -> QuicSender<Timed> {
        QuicSender::new(QuicConfig {
            flow,
            params: self.params.clone(),
            cc: make(&self.control, &rng),
            source,
            rng,
            start,
            stop,
        })
    }

    pub(crate) fn receiver(&self) -> QuicReceiver {
        QuicReceiver::new(&self.params)
    }
}

/// The plan of a QUIC-like flow; `more` are the arguments that are its data.
///
/// # Errors
/// If a parameter does not exist or has a value that is not allowed.
pub(crate) fn plan_quic(
    args: &[(String, String)],
    more: &[&'static str],
) -> Result<QuicPlan, ParamError> {
    let mut keys = more.to_vec();
    keys.push(CC);
    check_keys(args, &[QuicParams::TABLE], &keys)?;
    let own = pairs_of(args, QuicParams::TABLE);
    let mut params: QuicParams = sojourn_units::build(own_dialect::<QuicParams>(args), &own)?;
    let spec = match args.iter().find(|(key, _)| key == CC) {
        None => Spec::new(DEFAULT_CC),
        Some((_, text)) => Spec::parse_text(text).map_err(|error| ParamError::BadValue {
            key: CC.to_owned(),
            error,
        })?,
    };
    let algorithm = cc::required(&spec.name).map_err(|error| unknown_control(&error))?;
    let control =
        cc::prepare(algorithm.name, None, &spec.pairs()).map_err(|error| match error {
            cc::BuildError::Param { error, .. } => error.within(CC),
            unknown => unknown_control(&unknown),
        })?;
    if control().traits().ecn != EcnUse::Classic {
        refuse_without_marks(args, algorithm.name)?;
        params.ecn = true;
    }
    let resolved = Resolved::of_tables(algorithm.params, algorithm.dialects, None, &spec.pairs());
    let parts = vec![(QUIC, Resolved::of(&params)), (algorithm.name, resolved)];
    Ok(QuicPlan {
        params,
        control,
        parts,
    })
}
