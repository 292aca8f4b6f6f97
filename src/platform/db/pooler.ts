/**
 * PgBouncer and poolers like it. They refuse or drop the startup parameters that set timeouts, and in transaction mode a
 * plain `set` would reach other clients. Behind a pooler, transactions set their timeouts with `set local`, and a
 * statement outside of a transaction gets one of its own.
 */
import pg from 'pg';
import { sqlState } from './errors.ts';

/** No server has this default, so a connection that reports it has honored the parameter. */
const probeTimeoutMs = 54_321;

/**
 * Turns off just-in-time compilation. The planner compiles statements with a high estimated cost, which takes up to 2 s. No
 * statement here runs long enough to regain that time.
 */
export const withoutCompilation = '-c jit=off';

/** Whether timeouts can be set when a connection is made. Throws if the connection fails for another reason. */
export async function honorsStartupParameters(settings: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client({ options: withoutCompilation, ...settings, statement_timeout: probeTimeoutMs });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ value: string }>(
      `select setting as value from pg_settings where name = 'statement_timeout'`,
    );
    return rows[0]?.value === String(probeTimeoutMs);
  } catch (error) {
    if (isRefusedParameter(error)) return false;
    throw error;
  } finally {
    await client.end();
  }
}

/**
 * PgBouncer reports `unsupported startup parameter: statement_timeout` as a protocol violation. RDS Proxy reports "RDS Proxy currently
 * doesn't support command-line options" as an unsupported feature.
 */
function isRefusedParameter(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const state = sqlState(error);
  if (state === '0A000') return /command-line options|startup parameter/i.test(error.message);
  return state === '08P01' && error.message.includes('startup parameter');
}

/** Statements that follow each `begin` behind a pooler. */
export function localSettings(statementTimeoutMs: number, idleTimeoutMs: number): string {
  return `; set local statement_timeout = ${statementTimeoutMs}; set local idle_in_transaction_session_timeout = ${idleTimeoutMs}; set local jit = off`;
}
