/** Checks the servers that operators connect: MCP servers, and the receiver of webhooks. */
import { randomUUID } from 'node:crypto';
import { countTools } from '#agent/toolservers/toolservers.ts';
import type { Config } from '#app/config.ts';
import { systemClock as clock } from '#platform/clock.ts';
import { createLog } from '#platform/log.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import { guardReceiver, post } from '#webhooks/delivering.ts';
import { reasonOf } from './probing.ts';

const log = createLog({ level: 'silent' });
const webhookTimeoutMs = 15_000;

export async function checkMcpServers({ agent: { mcpServers, mcpAllowPrivate } }: Config): Promise<string> {
  if (mcpServers.length === 0) return 'none (AGENT_MCP_SERVERS is not set)';
  const counts = await Promise.all(
    mcpServers.map(async (server) => {
      // Its tools are those of a user, and doctor is none.
      if (server.identity) return `${server.name} for each user`;
      const count = await countTools(server, mcpAllowPrivate, log).catch((error: Error) => {
        throw new Error(`${server.name}: ${error.message}; check AGENT_MCP_SERVERS`);
      });
      return `${server.name} with ${count} ${count === 1 ? 'tool' : 'tools'}`;
    }),
  );
  return counts.join(', ');
}

/**
 * Sends a signed event of the type `ping`, which no subscription contains. The receiver verifies the signature as for every
 * event, and answers 2xx.
 */
export async function checkWebhooks({ webhooks, process: { production } }: Config): Promise<string> {
  const { url, secrets, events } = webhooks;
  if (url === undefined) return 'none (WEBHOOK_URL is not set)';
  const place = new URL(url).origin;
  const guard = await guardReceiver(url, production);
  const body = JSON.stringify({ type: 'ping', timestamp: new Date(clock.now()).toISOString(), data: {} });
  const id = `msg_${randomUUID()}`;
  await withDeadline(webhookTimeoutMs, (signal) => post({ url, secrets, guard, clock }, { id, body }, signal)).catch(
    (error: Error) => {
      throw new Error(`${place} did not accept a ping (${reasonOf(error)}); check WEBHOOK_URL and WEBHOOK_SECRET`);
    },
  );
  return `${place} accepts ${events.length} event types`;
}
