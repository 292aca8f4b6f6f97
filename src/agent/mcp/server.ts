/** One request of an MCP client. There are no sessions: each request has a protocol server of its own, so any process can answer it. */

import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ensureProfile } from '#accounts/store.ts';
import { Problem } from '#platform/problem.ts';
import { version } from '#platform/version.ts';
import type { McpContext } from './calls.ts';
import { fail, ToolFailed } from './results.ts';
import { findTool, type McpCaller, toolDefinitions } from './tools.ts';

export interface McpRequest {
  readonly userId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly message: unknown;
}

const instructions =
  'Tools of the signed-in user: images, videos, their library and memories about the user. Images and videos cost credits.';

/** `close` ends the connection. Work that a tool has begun goes on. */
export async function answerMcp(deps: McpContext, request: McpRequest) {
  const server = new Server({ name: 'Atelier', version }, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler('tools/list', async () => {
    const { plan } = await ensureProfile(deps.db, { id: request.userId }, deps.welcome);
    return { tools: [...toolDefinitions(deps.catalogue, plan)] };
  });
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = findTool(params.name);
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool named ${params.name.slice(0, 100)}`);
    const onProgress = progressOf(mcpReq._meta?.progressToken, mcpReq.notify);
    return callTool(deps, { userId: request.userId, onProgress }, tool, params.arguments ?? {});
  });
  const transport = new WebStandardStreamableHTTPServerTransport();
  // The SDK's own types differ under exactOptionalPropertyTypes.
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  const { headers, message: parsedBody } = request;
  const response = await transport.handleRequest(new Request('http://agent/mcp', { method: 'POST', headers }), {
    parsedBody,
  });
  return { response, close: () => server.close() };
}

async function callTool(
  deps: McpContext,
  caller: McpCaller,
  { definition, call }: NonNullable<ReturnType<typeof findTool>>,
  input: unknown,
): Promise<CallToolResult> {
  try {
    const result = await call(deps, caller, input);
    deps.metrics.toolCalled(definition.name, 'completed');
    return result;
  } catch (error) {
    deps.metrics.toolCalled(definition.name, 'failed');
    return explain(deps, error);
  }
}

function explain({ log }: McpContext, error: unknown): CallToolResult {
  if (error instanceof ToolFailed) return fail(error.code, error.message);
  if (error instanceof z.ZodError) {
    const faults = error.issues.map(({ path, message }) => `\`${path.join('.')}\` ${message}`);
    return fail('invalid_request', `The input is not valid: ${faults.slice(0, 5).join('; ')}.`);
  }
  if (error instanceof Problem && error.status < 500) return fail(error.code, error.message, error.details.fields);
  log.warn({ err: error }, 'a tool call over MCP failed');
  if (error instanceof Problem) return fail(error.code, error.message);
  return fail('internal_error', 'The tool failed. Try again later.');
}

/** Clients ask for progress with a token. */
function progressOf(
  progressToken: string | number | undefined,
  send: ServerContext['mcpReq']['notify'],
): McpCaller['onProgress'] {
  if (progressToken === undefined) return () => undefined;
  let progress = 0;
  return (message) => {
    progress += 1;
    // A client that has disconnected gets none.
    void send({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(
      () => undefined,
    );
  };
}
