/** The tables of the notification service. */
import type { Generated } from 'kysely';
import type { SkipReason, SuppressionReach } from './api.ts';
import type { EventType } from './emailapi.ts';
import type { Mail, Tag } from './mail.ts';

export type Endpoint = 'notify' | 'emails' | 'batch';

/**
 * `pending`: a job will try it. `sending`: an attempt is running, or its process died. `failed`: it has ended, and only
 * a request with its key tries it again.
 */
export type SendStatus = 'pending' | 'sending' | 'sent' | 'skipped' | 'failed' | 'canceled';

export interface NotifyTables {
  notify_sends: {
    id: string;
    endpoint: Endpoint;
    idempotency_key: string | null;
    body_digest: string;
    status: SendStatus;
    mail: Mail | null;
    provider_id: string | null;
    skip_reason: SkipReason | null;
    /** Why the last attempt failed. `null` while another one is running. */
    failure: Generated<string | null>;
    suppressed: Generated<readonly string[] | null>;
    /** The recipients that a server accepted in attempts that failed: bare, in lower case. */
    accepted: Generated<readonly string[]>;
    /** The earliest time. `null`: at once. */
    scheduled_at: Generated<Date | null>;
    subject: Generated<string | null>;
    /** The recipients in `To`. */
    recipients: Generated<readonly string[] | null>;
    tags: Generated<readonly Tag[] | null>;
    /** Of all recipients: bare, in lower case. */
    addresses: Generated<readonly string[]>;
    created_at: Generated<Date>;
  };
  notify_events: {
    event_id: Generated<number>;
    send_id: string | null;
    provider_id: string | null;
    type: EventType;
    reason: string | null;
    source_id: string | null;
    created_at: Generated<Date>;
  };
  suppressed_addresses: {
    address: string;
    reason: string;
    blocks: Generated<SuppressionReach>;
    created_at: Generated<Date>;
  };
}
