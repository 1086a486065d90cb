// What can be set, as the module declares it.

export interface Param {
  name: string;
  doc: string;
  kind:
    | "duration"
    | "rate"
    | "size"
    | "packets"
    | "limit"
    | "fraction"
    | "integer"
    | "number"
    | "flag"
    | "choice"
    | "spec"
    | "text";
  optional: boolean;
  unit: string;
  choices: { word: string; doc: string }[];
  default: string;
  /** Default in each dialect. */
  defaults?: Record<string, string>;
  known?: string[];
  part?: string;
  low: string;
  high: string;
  source: string;
  needs: string;
  acts: string;
}

export interface Entry {
  name: string;
  title: string;
  about: string;
  dialects: { name: string; release: string; doc: string }[];
  params: Param[];
}

export interface Catalogue {
  version: string;
  queues: Entry[];
  flows: Entry[];
  sources: Entry[];
  congestion: Entry[];
  tables: Record<"run" | "dumbbell" | "parking_lot" | "chain" | "place" | "changes" | "impairments", Param[]>;
}
