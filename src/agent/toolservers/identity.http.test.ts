/** MCP servers learn who a user is, and OAuth clients of `POST /mcp` find the identity provider. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ForeignServer, startForeignServer } from '../../../test/agent/mcp.fixture.ts';
import { newThread } from '../../../test/agent/rig.fixture.ts';
import { calling, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import type { AgentTables } from '../tables.ts';

let rig: ScriptedRig;
let foreign: ForeignServer;
let provider: Server;
let providerUrl: string;
const verified: JWTPayload[] = [];
const tokens: string[] = [];
/** The access token that the authorization server issues. */
let issued = '';

beforeAll(async () => {
  // The keys are those of the agent, which starts after its server.
  const keys = { url: '' };
  foreign = await startForeignServer(
    (server) =>
      server.registerTool('whoami', {}, ({ authInfo }) => ({
        content: [{ type: 'text', text: `you are ${authInfo?.clientId}` }],
      })),
    async (token) => {
      tokens.push(token);
      const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(keys.url)), { audience: foreign.url });
      verified.push(payload);
      return { token, clientId: String(payload.sub), scopes: [] };
    },
  );
  provider = createServer((...call) => answerOAuth(...call)).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  providerUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  rig = await startScripted({
    settings: { mcpServers: [{ name: 'desk', url: foreign.url, headers: {}, identity: true }], mcpAllowPrivate: true },
    changes: { agentUrl: 'https://agent.example', authorizationServer: providerUrl },
  });
  keys.url = `${rig.url}/.well-known/jwks.json`;
});
afterAll(async () => {
  await rig.close();
  await foreign.close();
  provider.close();
});

/** An authorization server with dynamic registration, as OAuth clients expect it. */
const answerOAuth: RequestListener = (request, response) => {
  const answers: Readonly<Record<string, object>> = {
    '/.well-known/oauth-authorization-server': {
      issuer: providerUrl,
      authorization_endpoint: `${providerUrl}/authorize`,
      token_endpoint: `${providerUrl}/token`,
      registration_endpoint: `${providerUrl}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    },
    '/register': { client_id: 'a-client', redirect_uris: ['http://localhost/done'] },
    '/token': { access_token: issued, token_type: 'Bearer' },
  };
  const { pathname } = new URL(request.url ?? '/', providerUrl);
  const status = pathname === '/register' ? 201 : pathname in answers ? 200 : 404;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answers[pathname] ?? { error: 'not_found' }));
};

describe('an MCP server with identity', () => {
  it('verifies the user of each request by the key set, and no user shares a session', async () => {
    const users = [await rig.user(), await rig.user()];
    for (const user of users) {
      const { tools } = await rig.runScript(user, calling('desk_whoami', {}));
      expect(tools).toMatchObject([{ output: { status: 'completed', text: `you are ${user.userId}` } }]);
    }
    expect(new Set(verified.map(({ sub }) => sub))).toEqual(new Set(users.map(({ userId }) => userId)));
    expect(foreign.sessions.size).toBe(2);
    for (const { iss, aud, iat = 0, exp = 0 } of verified)
      expect([iss, aud, exp - iat]).toEqual(['https://agent.example', foreign.url, 300]);
    expect(new Set(verified.map(({ jti }) => jti)).size).toBe(verified.length);
  });

  it('gets tokens that open nothing of Atelier, and public keys alone', async () => {
    const token = tokens.at(-1) ?? '';
    expect(decodeJwt(token).sub).toBeDefined();
    const response = await fetch(`${rig.url}/credits`, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(401);
    const keys = await (await fetch(`${rig.url}/.well-known/jwks.json`)).json();
    expect(keys).toEqual({
      keys: [
        {
          kty: 'EC',
          crv: 'P-256',
          alg: 'ES256',
          use: 'sig',
          kid: expect.any(String),
          x: expect.any(String),
          y: expect.any(String),
        },
      ],
    });
    const other = await rig.another({ pace: { leaseMs: 60_000 } });
    expect(await (await fetch(`${other.url}/.well-known/jwks.json`)).json()).toEqual(keys);
  });

  it('gets tokens of a key that the database has sealed, and of another one after a change of INTERNAL_KEY', async () => {
    const keysAt = async ({ url }: { readonly url: string }) => (await fetch(`${url}/.well-known/jwks.json`)).text();
    const rows = await rig.media.database
      .queries<AgentTables>()
      .selectFrom('agent_signing_keys')
      .select('sealed_key')
      .execute();
    expect(rows.map(({ sealed_key }) => decodeProtectedHeader(sealed_key).enc)).toEqual(['A256GCM']);
    const [changed, missing] = [await rig.another({ internalKeys: ['new'] }), await rig.another({ internalKeys: [] })];
    expect(JSON.parse(await keysAt(changed)).keys).toHaveLength(1);
    expect(await keysAt(changed)).not.toBe(await keysAt(rig));
    expect(JSON.parse(await keysAt(missing))).toEqual({ keys: [] });
  });

  it('that refuses a user costs the run its tools, and nothing else', async () => {
    foreign.answerAllWith(401);
    const { status } = await rig.runText(await rig.user(), newThread(), 'Hello');
    foreign.answerAllWith(undefined);
    expect(status).toBe('completed');
  });
});

describe('an OAuth client of POST /mcp', () => {
  it('finds the identity provider, signs in there and connects', async () => {
    const user = await rig.user();
    issued = (user.credential.authorization ?? '').replace('Bearer ', '');
    const saved: Record<string, unknown> = {};
    let sentTo: URL | undefined;
    const authProvider: OAuthClientProvider = {
      redirectUrl: 'http://localhost/done',
      clientMetadata: { redirect_uris: ['http://localhost/done'], client_name: 'A client' },
      clientInformation: () => saved.client as never,
      saveClientInformation: (client) => {
        saved.client = client;
      },
      tokens: () => saved.tokens as never,
      saveTokens: (got) => {
        saved.tokens = got;
      },
      redirectToAuthorization: (url) => {
        sentTo = url;
      },
      saveCodeVerifier: (verifier) => {
        saved.verifier = verifier;
      },
      codeVerifier: () => String(saved.verifier),
    };
    const url = new URL(`${rig.url}/mcp`);
    const transport = new StreamableHTTPClientTransport(url, { authProvider });
    const client = new Client({ name: 'a client', version: '1.0.0' });
    await expect(client.connect(transport)).rejects.toThrow();
    expect(sentTo?.origin).toBe(providerUrl);
    expect(sentTo?.searchParams.get('resource')).toBe(`${rig.url}/mcp`);
    await transport.finishAuth(randomUUID());
    const connected = new Client({ name: 'a client', version: '1.0.0' });
    await connected.connect(new StreamableHTTPClientTransport(url, { authProvider }));
    expect((await connected.listTools()).tools.map(({ name }) => name)).toContain('generate_image');
    await connected.close();
  });

  it.each(['', '/mcp'])('reads the metadata of the resource at the well-known path%s', async (path) => {
    const read = async (headers: Record<string, string> = {}) =>
      (await fetch(`${rig.url}/.well-known/oauth-protected-resource${path}`, { headers })).json();
    expect(await read()).toEqual({
      resource: `${rig.url}/mcp`,
      authorization_servers: [providerUrl],
      bearer_methods_supported: ['header'],
      resource_name: 'Atelier',
    });
    expect(await read({ 'x-forwarded-proto': 'https' })).toMatchObject({
      resource: `${rig.url.replace('http:', 'https:')}/mcp`,
    });
  });
});
