/** A token issuer for tests: a real key set over HTTP, and tokens signed by it. Its keys can change, and it can fail. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';

type Provider = 'up' | 'failing' | 'hanging' | 'garbage' | 'endless';

export interface TestIssuer {
  readonly jwksUrl: string;
  /** The number of requests for the key set. */
  readonly requestCount: () => number;
  /** Responses that the client has not ended yet. */
  readonly openResponses: () => number;
  /** Returns a valid token with the given claims (`undefined` removes one). */
  token(claims?: JWTPayload, header?: Partial<JWTHeaderParameters>): Promise<string>;
  /** Signs tokens with a new key. The old key stays published only with `keep`. */
  rotate(kid: string, keep?: boolean): Promise<void>;
  /** Publishes further keys unchanged. */
  publish(...others: readonly JWK[]): void;
  publicJwk(): JWK;
  become(provider: Provider): void;
  close(): Promise<void>;
}

export const testUserId = '3f8e1f0a-8a4b-4c58-9d25-6a1b2c3d4e5f';

export async function startTestIssuer(): Promise<TestIssuer> {
  let state: Provider = 'up';
  let requestCount = 0;
  const open = new Set<ServerResponse>();
  let published: JWK[] = [];
  let others: readonly JWK[] = [];
  let signing = await makeKey('k1');
  published = [signing.jwk];

  const server = createServer((_request, response) => {
    requestCount += 1;
    open.add(response);
    response.on('close', () => open.delete(response));
    if (state === 'endless') return void response.write(`{"keys":[],"more":"${'a'.repeat(1024 * 1024)}`);
    if (state === 'hanging') return;
    if (state === 'garbage') return void response.end('<html>');
    response.statusCode = state === 'failing' ? 500 : 200;
    response.end(JSON.stringify({ keys: [...others, ...published] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    jwksUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
    requestCount: () => requestCount,
    openResponses: () => open.size,
    token(claims = {}, header = {}) {
      const nowS = Math.floor(Date.now() / 1000);
      return new SignJWT({ sub: testUserId, aud: 'authenticated', iat: nowS, exp: nowS + 3600, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: signing.jwk.kid, ...header })
        .sign(signing.privateKey);
    },
    async rotate(kid, keep = true) {
      signing = await makeKey(kid);
      published = keep ? [...published, signing.jwk] : [signing.jwk];
    },
    publish(...jwks) {
      others = jwks;
    },
    publicJwk: () => signing.jwk,
    become(next) {
      state = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function makeKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } };
}
