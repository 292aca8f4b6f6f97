/** Sends mails. `open.ts` chooses one of three drivers: the provider's HTTP API, SMTP, or the outbox. */
import type { Mail } from '../mail.ts';

export interface Channel {
  /**
   * Returns the provider's id of the mail. `id` identifies the send: another attempt with it is the same mail, and is
   * delivered once if the other side supports idempotency. Rejects with ChannelFailure, or with the reason of `signal`, which not every
   * driver watches.
   */
  send(mail: Mail, options: { readonly id: string; readonly signal: AbortSignal }): Promise<string>;
  /** Rejects if the other side does not accept our credentials. Sends nothing. */
  check(): Promise<void>;
  /** Deletes the mails that the channel stores for an address as addressOf returns it, and returns their number. Absent: it stores none. */
  forget?(address: string): Promise<number>;
  close(): Promise<void>;
}

/** A recipient whose mailbox does not exist, according to its server. */
export interface RefusedRecipient {
  readonly address: string;
  /** The server's reply. */
  readonly reason: string;
}

export class ChannelFailure extends Error {
  readonly refused: readonly RefusedRecipient[];
  /** The recipients that the server accepted all the same: bare, in lower case. */
  readonly accepted: readonly string[];

  constructor(
    message: string,
    options: {
      readonly refused?: readonly RefusedRecipient[];
      readonly accepted?: readonly string[];
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ChannelFailure';
    this.refused = options.refused ?? [];
    this.accepted = options.accepted ?? [];
  }
}
