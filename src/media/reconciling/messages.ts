/** Requests to the reading thread and its replies. */
export interface ReadingRequest {
  readonly path: string;
  /** The folder of the bucket, in which no symbolic link is followed. */
  readonly root: string;
  /** A file with one of these ETags or with another size is not read. */
  readonly knownEtags: readonly string[];
  readonly byteSize: number;
}

export interface SeenFile {
  readonly etag: string;
  /** Hex; `undefined`: it was not read. */
  readonly sha256: string | undefined;
}

export type ReadingReply = { readonly file: SeenFile | undefined } | { readonly failure: string };
