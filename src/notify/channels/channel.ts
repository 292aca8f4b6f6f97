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

export class ChannelFailure extends Error {
  /** Addresses that are refused for good. */
  readonly refused: readonly string[];

  constructor(message: string, options: { readonly refused?: readonly string[]; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'ChannelFailure';
    this.refused = options.refused ?? [];
  }
}
