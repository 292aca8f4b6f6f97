/** Requests to the PDF thread and its replies. */
export interface PdfRequest {
  readonly bytes: Uint8Array;
  readonly maxPages: number;
  readonly maxCharacters: number;
}

export interface PdfReply {
  /** `undefined`: the document has too many pages. */
  readonly text: string | undefined;
}
