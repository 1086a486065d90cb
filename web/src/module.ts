// The WebAssembly module: requests and answers as JSON, numbers beside them.

/** What the module exports. */
interface Exports {
  memory: WebAssembly.Memory;
  sojourn_input(length: number): number;
  sojourn_call(): number;
  sojourn_output(): number;
  sojourn_count(): number;
  sojourn_numbers(): number;
  sojourn_panic_length(): number;
  sojourn_panic(): number;
}

/** A request that was refused: what the user can put right. */
export interface Refusal {
  text: string;
  key: string;
  line: number | null;
  excerpt: string | null;
}

/** The module refused a request. */
export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.text);
  }
}

/** The module ended with a trap: it can be used no more. */
export class Trapped extends Error {}

/** One instance of the module, with a memory of its own. */
export class Module {
  private readonly encoder = new TextEncoder();
  private readonly decoder = new TextDecoder();

  private constructor(private readonly exports: Exports) {}

  static async of(compiled: WebAssembly.Module): Promise<Module> {
    const instance = await WebAssembly.instantiate(compiled, {});
    return new Module(instance.exports as unknown as Exports);
  }

  /** Bytes of memory that it has. */
  get memory(): number {
    return this.exports.memory.buffer.byteLength;
  }

  /** Carries out a request. */
  call<T>(request: object): T {
    const text = this.encoder.encode(JSON.stringify(request));
    let answer: T & { error?: Refusal };
    try {
      const at = this.exports.sojourn_input(text.length);
      new Uint8Array(this.exports.memory.buffer).set(text, at);
      const length = this.exports.sojourn_call();
      answer = JSON.parse(this.read(this.exports.sojourn_output(), length)) as typeof answer;
    } catch (error) {
      throw new Trapped(this.lastWords(error));
    }
    if (answer.error) throw new Refused(answer.error);
    return answer;
  }

  /** The numbers beside the last answer, as a copy. */
  numbers(): Float64Array<ArrayBuffer> {
    const count = this.exports.sojourn_count();
    const at = this.exports.sojourn_numbers();
    return new Float64Array(this.exports.memory.buffer.slice(at, at + count * 8));
  }

  private read(at: number, length: number): string {
    return this.decoder.decode(new Uint8Array(this.exports.memory.buffer, at, length));
  }

  private lastWords(error: unknown): string {
    const trap = error instanceof Error ? error.message : String(error);
    try {
      const said = this.read(this.exports.sojourn_panic(), this.exports.sojourn_panic_length());
      return said || trap;
    } catch {
      return trap;
    }
  }
}
