/**
 * PgBouncer and poolers like it. They refuse or drop the startup parameters that set timeouts, and in transaction mode a
 * plain `set` would reach other clients. Behind a pooler, transactions set their timeouts with `set local`, and a
 * statement outside of a transaction is canceled by its client.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
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

export type Cancel = (client: pg.PoolClient) => Promise<void>;

const cancelRequestCode = 80_877_102;
const cancelTimeoutMs = 1_000;
const socketTimeoutMs = 30_000;

/**
 * Cancels what a connection runs now. Resolves when the server has taken the request, at most 1 s later.
 * The request is not encrypted, like that of libpq before version 17: servers accept it before they require TLS.
 */
export function createCancel(settings: pg.ClientConfig): Cancel {
  const { host, port } = new pg.Client(settings);
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  return async (client) => {
    const request = cancelRequest(client);
    if (request === undefined) return;
    const socket = connect(target).unref();
    socket.on('error', () => undefined);
    // The server closes the connection when it is done. Closing it earlier, even half, makes PgBouncer drop the request.
    socket.setTimeout(socketTimeoutMs, () => socket.destroy());
    socket.resume();
    socket.write(request);
    await Promise.race([once(socket, 'close'), sleep(cancelTimeoutMs, undefined, { ref: false })]);
  };
}

/** The process and the key that the server named at the start of the connection, which pg keeps without declaring them. */
function cancelRequest(client: object): Buffer | undefined {
  const processId = 'processID' in client ? client.processID : undefined;
  const secretKey = 'secretKey' in client ? client.secretKey : undefined;
  if (typeof processId !== 'number' || typeof secretKey !== 'number') return undefined;
  const request = Buffer.alloc(16);
  request.writeInt32BE(16, 0);
  request.writeInt32BE(cancelRequestCode, 4);
  request.writeInt32BE(processId, 8);
  request.writeInt32BE(secretKey, 12);
  return request;
}
