/** The tools of all configured MCP servers (docs/specification/agent.md#tools-by-setting). */

import { createHash } from 'node:crypto';
import { createGuard, ForbiddenUrl, type Guard } from '#platform/http/hostguard.ts';
import { StartFault } from '#platform/lifecycle.ts';
import type { Log } from '#platform/log.ts';
import type { McpServer } from '../mcpservers.ts';
import type { Identity } from './identity.ts';
import type { CallOptions, ToolResult } from './session.ts';
import { defaultPace, describeTool, type Pace, ToolServer, type ToolServerOptions } from './toolserver.ts';

export interface ForeignTool {
  /** Unique among the agent's tools, and accepted by every provider. */
  readonly name: string;
  readonly server: string;
  readonly description: string;
  /** JSON schema. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** By `destructiveHint` of the server. */
  readonly isDestructive: boolean;
  call(input: unknown, options: CallOptions): Promise<ToolResult>;
}

export interface ToolServers {
  /** Never rejects. Waits for servers whose lists are out of date, but not long. */
  list(userId: string): Promise<readonly ForeignTool[]>;
  close(): Promise<void>;
}

export interface ToolServersOptions {
  /** AGENT_MCP_SERVERS. */
  readonly servers: readonly McpServer[];
  /** AGENT_MCP_ALLOW_PRIVATE. */
  readonly allowPrivate: boolean;
  readonly log: Log;
  readonly identity: Identity;
  /** For tests. */
  readonly pace?: Partial<Pace> | undefined;
}

/** Throws StartFault for a server at a private address. A name that does not resolve now may resolve later. */
export async function openToolServers(options: ToolServersOptions): Promise<ToolServers> {
  const { servers, allowPrivate, log, identity, pace } = options;
  const opened: { readonly of: (userId: string) => ToolServer; readonly close: () => Promise<void> }[] = [];
  for (const server of servers) {
    const guard = guardOf(server, allowPrivate);
    await checkAddress(guard, server);
    const deps = { guard, log, pace: { ...defaultPace, ...pace } };
    opened.push(server.identity ? ofEachUser(server, deps, identity) : ofAllUsers(new ToolServer(server, deps)));
  }
  return {
    list: (userId) => listAll(opened.map((server) => server.of(userId))),
    close: async () => {
      await Promise.all(opened.map((server) => server.close()));
    },
  };
}

const ofAllUsers = (server: ToolServer) => ({ of: () => server, close: () => server.close() });

/** Of one server. Each has a connection and a list of tools of its own. */
const maxUsers = 500;

/** A server may keep what belongs to a user in its session, so users share none. */
function ofEachUser(server: McpServer, deps: ToolServerOptions, identity: Identity) {
  const users = new Map<string, ToolServer>();
  const dropIdle = () => {
    for (const [userId, user] of users) {
      if (users.size <= maxUsers) return;
      if (!user.isIdle) continue;
      users.delete(userId);
      void user.close();
    }
  };
  return {
    of: (userId: string) => {
      const token = () => identity.tokenFor(userId, server.url);
      const user = users.get(userId) ?? new ToolServer(server, { ...deps, token });
      // The one that was used last is dropped last.
      users.delete(userId);
      users.set(userId, user);
      dropIdle();
      return user;
    },
    close: async () => {
      await Promise.all([...users.values()].map((user) => user.close()));
    },
  };
}

/** Returns the number of tools. Rejects with a reason that shows no secret, and with StartFault as `openToolServers`. */
export async function countTools(server: McpServer, allowPrivate: boolean, log: Log): Promise<number> {
  const guard = guardOf(server, allowPrivate);
  await checkAddress(guard, server);
  const opened = new ToolServer(server, { guard, log, pace: defaultPace });
  try {
    return await opened.check();
  } finally {
    await opened.close();
  }
}

function guardOf({ url }: McpServer, allowPrivate: boolean): Guard {
  const { host, hostname } = new URL(url);
  return createGuard({ allowedHosts: allowPrivate ? [host, hostname] : [] });
}

async function checkAddress(guard: Guard, { name, url }: McpServer): Promise<void> {
  await guard(new URL(url)).catch((error: unknown) => {
    if (error instanceof ForbiddenUrl)
      throw new StartFault(
        `AGENT_MCP_SERVERS: the server \`${name}\` must have a public address (${error.message}). Set AGENT_MCP_ALLOW_PRIVATE=true to allow private ones.`,
      );
  });
}

/** Providers accept 128, and the agent has tools of its own. */
const maxTools = 100;

async function listAll(servers: readonly ToolServer[]): Promise<readonly ForeignTool[]> {
  const lists = await Promise.all(servers.map((server) => server.list()));
  const all = servers.flatMap((server, index) => (lists[index] ?? []).map((tool) => ({ server, tool })));
  const tools = all.slice(0, maxTools);
  const names = nameTools(tools.map(({ server, tool }) => ({ server: server.name, tool: tool.name })));
  return tools.map(({ server, tool }, index) => ({
    name: names[index] ?? '',
    server: server.name,
    description: describeTool(tool),
    inputSchema: tool.inputSchema,
    isDestructive: tool.isDestructive,
    call: (input, options) => server.call(tool.name, input, options),
  }));
}

// The names that models know the tools of other servers by (docs/specification/agent.md#tools-by-setting).

/** What every provider accepts. */
const maxLength = 64;
const digestLength = 8;

interface ToolName {
  readonly server: string;
  readonly tool: string;
}

/**
 * Returns `<server>_<tool>` for each tool, in the same order: unique, at most 64 characters, of `A-Z a-z 0-9 _ -` only. A name
 * that is too long or taken ends with a digest of the server and the tool, so that it stays the same in every process.
 */
export function nameTools(tools: readonly ToolName[]): readonly string[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    const plain = `${tool.server}_${tool.tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_');
    const name = plain.length <= maxLength && !taken.has(plain) ? plain : withDigest(plain, tool);
    taken.add(name);
    return name;
  });
}

function withDigest(plain: string, { server, tool }: ToolName): string {
  const digest = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, digestLength);
  return `${plain.slice(0, maxLength - digestLength - 1)}_${digest}`;
}
