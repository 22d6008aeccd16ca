import type { LoadOptions, Sessile } from "./sessile.js";

type Answers<T> = {
  [K in Exclude<keyof T, "time">]: T[K] extends (...values: infer V) => infer R ? (...values: V) => Promise<R> : never;
};

/** The methods of {@link Sessile} in a Web Worker: each returns a promise, and calls keep their order. */
export interface SessileWorker extends Answers<Sessile> {
  /** Ends the worker. */
  close(): void;
}

export const SessileWorker: {
  /** Starts a worker, reads a scene and builds its model at time 0. */
  load(toml: string, options?: LoadOptions): Promise<SessileWorker>;
};
