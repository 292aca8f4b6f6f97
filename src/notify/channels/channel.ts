/** How mails leave: one interface, three drivers (the provider's HTTP API, SMTP, the outbox), chosen in open.ts only. */
import type { Mail } from '../mail.ts';

export interface Channel {
  readonly name: 'provider' | 'smtp' | 'outbox';
  /**
   * The provider's id of the mail. `id` names the send: a repeat with it is the same mail, and where the other side can
   * tell so it goes out once. Rejects with ChannelFailure, or with what aborted `signal`.
   */
  send(mail: Mail, options: { readonly id: string; readonly signal: AbortSignal }): Promise<string>;
  /** Rejects unless mails would be taken with our credentials. Sends nothing. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** A recipient whose mailbox does not exist, as its server says. */
export interface RefusedRecipient {
  readonly address: string;
  /** The server's words. */
  readonly reason: string;
}

export class ChannelFailure extends Error {
  readonly refused: readonly RefusedRecipient[];

  constructor(
    message: string,
    options: { readonly refused?: readonly RefusedRecipient[]; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ChannelFailure';
    this.refused = options.refused ?? [];
  }
}
