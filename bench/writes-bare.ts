/** Bare routes that write what the services write: the same rows by plain `pg`, the same files and the same credentials. */

import { hash, randomUUID } from 'node:crypto';
import { copyFile, lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fastify from 'fastify';
import pg from 'pg';
import type { Embedder } from '../src/memory/embedding/embedder.ts';
import { openOutbox } from '../src/notify/channels/outbox.ts';
import { createTokenVerifier, matchSecret } from '../src/platform/access/access.ts';
import { createKeySet } from '../src/platform/access/keyset.ts';
import { systemClock as clock } from '../src/platform/clock.ts';
import { createLog } from '../src/platform/log.ts';

export interface BareDeps {
  readonly url: string;
  readonly folder: string;
  readonly issuer: { readonly jwksUrl: string };
  readonly internalKey: string;
  readonly embedder: Embedder;
}

export async function createBareRoutes({ url, folder, issuer, internalKey, embedder }: BareDeps) {
  const log = createLog({ level: 'silent' });
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  // Its connections break when the database is dropped.
  pool.on('error', () => undefined);
  const tokens = createTokenVerifier(createKeySet({ jwksUrl: issuer.jwksUrl, log, clock }), clock);
  const isInternalKey = matchSecret([internalKey]);
  const channel = await openOutbox(folder);
  const pathOf = (key: string) => join(folder, 'objects', key);
  const app = fastify();
  app.addHook('onClose', () => pool.end());
  app.addHook('onRequest', async ({ headers }) => {
    const { authorization, 'x-internal-key': key } = headers;
    if (authorization !== undefined) await tokens.verify(authorization.slice('Bearer '.length));
    else if (!isInternalKey(String(key))) throw new Error('no credential');
  });

  app.post('/v1/copy', async (request) => {
    const { fromAssetId, toScopeKind, toScopeId } = request.body as Record<string, string>;
    const { rows } = await pool.query('select * from assets where asset_id = $1 and ready_at is not null', [
      fromAssetId,
    ]);
    const from = rows[0];
    const assetId = randomUUID();
    const key = `u/${from.owner_id}/${toScopeKind}/${toScopeId}/${assetId}.png`;
    await pool.query(
      `insert into assets (asset_id, owner_id, scope_kind, scope_id, kind, requested_mime, mime, backend, bucket, storage_key, etag,
        byte_size)
      select $1, owner_id, $2, $3, kind, requested_mime, mime, backend, bucket, $4, '', byte_size
      from assets where asset_id = $5 for key share`,
      [assetId, toScopeKind, toScopeId, key, fromAssetId],
    );
    const staged = join(folder, 'incoming', randomUUID());
    await copyFile(pathOf(from.storage_key), staged);
    await syncPath(staged);
    await mkdir(dirname(pathOf(key)), { recursive: true });
    await rename(staged, pathOf(key));
    await syncPath(dirname(pathOf(key)));
    const { ino, mtimeMs } = await lstat(pathOf(key));
    const marked = await pool.query(
      `update assets set etag = $2, sha256 = $3, md5 = $4, screened_at = now(), ready_at = now() where asset_id = $1 and etag = '' returning *`,
      [assetId, `${ino} ${mtimeMs}`, from.sha256, from.md5],
    );
    return marked.rows[0];
  });

  app.delete('/v1/assets', async (request) => {
    const { ids } = request.body as { ids: string[] };
    const select = 'select asset_id, storage_key, xmin::text as revision from assets where asset_id = any($1)';
    const { rows } = await pool.query(select, [ids]);
    for (const { storage_key: key } of rows) {
      await unlink(pathOf(key));
      await syncPath(dirname(pathOf(key)));
    }
    const revisions = rows.map(({ revision }) => revision);
    await pool.query('delete from assets where asset_id = any($1) and xmin::text = any($2)', [ids, revisions]);
    return { deletedNew: rows.length, deletedLegacy: 0 };
  });

  app.post('/memory/add', async (request, reply) => {
    const { entity_type: entityType, entity_id: entityId, type, content } = request.body as Record<string, string>;
    const vector = (await embedder.embed([String(content)]))[0];
    const client = await pool.connect();
    try {
      await client.query('begin');
      const entity = [entityType, entityId];
      const { rows } = await client.query(
        `insert into memory_entities (entity_type, entity_id) values ($1, $2)
        on conflict (entity_type, entity_id) do update set version = nextval('memory_versions') returning version`,
        entity,
      );
      const bytes = Buffer.byteLength(String(content));
      const added = await client.query(
        `insert into memories (entity_type, entity_id, type, content, content_hash, metadata, bytes, embedder, embedding, version)
        values ($1, $2, $3, $4, $5, '{}', $6, $7, $8, $9) returning memory_id`,
        [
          ...entity,
          type,
          content,
          Buffer.from(hash('sha256', String(content)), 'hex'),
          bytes,
          embedder.name,
          Buffer.from(vector?.buffer ?? new ArrayBuffer(0)),
          rows[0].version,
        ],
      );
      await client.query(
        `update memory_entities set memory_count = memory_count + 1, memory_bytes = memory_bytes + $3
        where entity_type = $1 and entity_id = $2`,
        [...entity, bytes],
      );
      await client.query('commit');
      return reply.code(201).send({ id: added.rows[0].memory_id, deduplicated: false });
    } finally {
      client.release();
    }
  });

  app.post('/emails', async (request) => {
    const { from, to, subject, text } = request.body as Record<string, string>;
    const mail = { from, to: [to], cc: [], bcc: [], replyTo: [], subject, text, headers: {} };
    const id = randomUUID();
    await pool.query(
      `with job as (
        insert into jobs (queue, unique_key, payload, status) values ('bare', $1::text, json_build_object('sendId', $1), 'running')
      )
      insert into notify_sends (id, endpoint, body_digest, status, mail, subject, addresses, recipients)
      values ($1::uuid, 'emails', $2, 'sending', $3, $4, $5, $6)`,
      [id, hash('sha256', JSON.stringify(request.body)), mail, subject, [to], JSON.stringify([to])],
    );
    const providerId = await channel.send(mail as never, { id, signal: new AbortController().signal });
    await pool.query(
      `with job as (update jobs set status = 'done', finished_at = now() where queue = 'bare' and unique_key = $1::text),
      send as (update notify_sends set status = 'sent', provider_id = $2, mail = null where id = $1::uuid)
      insert into notify_events (send_id, type) values ($1::uuid, 'sent')`,
      [id, providerId],
    );
    return { id: providerId };
  });

  return app;
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync();
  await handle.close();
}
