/** Checks external services: identity provider, CMS, mail, resizing proxy, CDN, classifier. */

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ZodError } from 'zod';
import { createModeration } from '#agent/prompts/screening.ts';
import { countTools } from '#agent/toolservers/toolservers.ts';
import { announcementFeature, readAllOnce } from '#content/cms.ts';
import { pathSigner } from '#edge/api.ts';
import { readIdentity } from '#media/credentials/identity.ts';
import { createClassifier } from '#media/screening/classifier.ts';
import { hitsOf } from '#media/screening/labels.ts';
import { openChannel } from '#notify/channels/open.ts';
import { readKeys } from '#platform/access/keyset.ts';
import { systemClock as clock } from '#platform/clock.ts';
import { createLog } from '#platform/log.ts';
import { withDeadline } from '#platform/resilience.ts';
import { guardReceiver, post } from '#webhooks/delivering.ts';
import type { Config } from '../config.ts';
import { placeOf, probe, reasonOf, Warning } from './probing.ts';

export async function checkIdentity(config: Config): Promise<string> {
  const { url, jwksUrl, anonKey } = config.identity;
  if (url === undefined) return 'the local stand-in, which npm start starts';
  const keysUrl = jwksUrl ?? `${url}/auth/v1/.well-known/jwks.json`;
  const keys = await readKeys(keysUrl).catch((error: Error) => {
    throw new Error(`${placeOf(keysUrl)} has no key set (${reasonOf(error)}); check IDP_URL or JWKS_URL`);
  });
  if (keys.size === 0)
    throw new Error(
      `${placeOf(keysUrl)} has no key for ES256, so no access token is accepted; check IDP_URL or JWKS_URL`,
    );
  const settingsUrl = `${url}/auth/v1/settings`;
  const status = await probe({
    url: settingsUrl,
    headers: { apikey: anonKey },
    settings: 'IDP_URL',
    keySetting: 'ANON_KEY',
  });
  if (status !== 200) throw new Warning(`${placeOf(settingsUrl)} returns ${status}, so ANON_KEY could not be checked`);
  return `${keys.size} token keys at ${placeOf(keysUrl)}, and ANON_KEY is accepted`;
}

export async function checkCms({ cms: { url } }: Config): Promise<string> {
  if (url === undefined) return 'the local stand-in, which npm start starts';
  const { failures, isEmpty } = await readAllOnce(url);
  if (failures.length === 0 && isEmpty)
    throw new Warning(`the CMS at ${placeOf(url)} has neither announcement, cards nor trending items; check CMS_URL`);
  if (failures.length === 0) return `the CMS at ${placeOf(url)}`;
  const sentences = failures.map(({ path, reason }) => `${placeOf(url + path)}: ${describeContent(reason)}`);
  const message = `the CMS returns no content (${sentences.join('; ')}); check CMS_URL`;
  // A CMS may have no content for the others. The response is then empty.
  throw failures.some(({ path }) => path === announcementFeature.path) ? new Error(message) : new Warning(message);
}

function describeContent(reason: unknown): string {
  return reason instanceof ZodError ? 'content of another shape' : reasonOf(Object(reason));
}

export async function checkMail({ notify, process: { dataDir } }: Config): Promise<string> {
  const { resendApiKey, resendBaseUrl, smtpUrl } = notify;
  if (resendApiKey === undefined && smtpUrl === 'outbox') return `the outbox, files in ${join(dataDir, 'outbox')}`;
  const [what, settings] =
    resendApiKey === undefined
      ? [`the SMTP server ${new URL(smtpUrl).host}`, 'SMTP_URL']
      : [`the mail provider ${placeOf(resendBaseUrl)}`, 'RESEND_API_KEY and RESEND_BASE_URL'];
  const channel = await openChannel(notify, dataDir);
  try {
    await channel.check();
    return `${what} accepts the credentials`;
  } catch (error) {
    throw new Error(`${what} does not accept mail (${reasonOf(error as Error)}); check ${settings}`);
  } finally {
    await channel.close();
  }
}

export async function checkResizing({ resizing: { proxyUrl, key, salt }, objects }: Config): Promise<string> {
  if (proxyUrl === undefined) return 'the edge';
  const status = await probe({ url: `${proxyUrl}/health`, settings: 'IMGPROXY_URL' });
  if (status !== 200) throw new Error(`${placeOf(proxyUrl)}/health returns ${status}; check IMGPROXY_URL`);
  // The image does not exist, but imgproxy checks the signature first.
  const path = `/rs:fit:1:1:0/plain/s3://${objects.bucket}/doctor@webp`;
  const keySetting = 'IMGPROXY_KEY and IMGPROXY_SALT';
  await probe({ url: `${proxyUrl}/${pathSigner(key, salt)(path)}${path}`, settings: 'IMGPROXY_URL', keySetting });
  return `imgproxy at ${placeOf(proxyUrl)}`;
}

export async function checkCdn({ resizing: { cdnUrl } }: Config): Promise<string> {
  if (cdnUrl === undefined) return 'the edge';
  // No variant has this name, so any response means that the CDN is reachable.
  await probe({ url: `${cdnUrl}/img/doctor`, settings: 'PUBLIC_CDN_URL' });
  return `the CDN at ${placeOf(cdnUrl)}`;
}

export async function checkCredentials({ media }: Config): Promise<string> {
  const { c2paCertificate, c2paPrivateKey } = media;
  if (c2paCertificate === undefined || c2paPrivateKey === undefined) return 'none (C2PA_CERTIFICATE is not set)';
  const [signer] = readIdentity(c2paCertificate, c2paPrivateKey).chain;
  const end = signer?.validToDate ?? new Date(0);
  const until = end.toISOString().slice(0, 10);
  if (end < new Date())
    throw new Warning(`the certificate expired on ${until}, so readers reject manifests; renew C2PA_CERTIFICATE`);
  return `generated images are signed, with a certificate that is valid until ${until}`;
}

/** A service that flags a harmless text would refuse everything. */
export async function checkPromptScreening({ agent }: Config): Promise<string> {
  const { promptScreeningUrl: url } = agent;
  if (url === undefined) return 'none (PROMPT_SCREENING_URL is not set)';
  const moderation = createModeration(agent, url);
  try {
    const categories = await moderation.ask(['A lighthouse at dusk.']);
    if (categories !== undefined) throw new Error(`it flags a harmless text (${categories.join(', ')})`);
    return `prompts are checked by ${placeOf(url)}`;
  } catch (error) {
    const settings = 'PROMPT_SCREENING_URL, PROMPT_SCREENING_API_KEY and PROMPT_SCREENING_MODEL';
    throw new Error(`the service at ${placeOf(url)} is unusable (${reasonOf(error as Error)}); check ${settings}`);
  } finally {
    await moderation.close();
  }
}

/** The image is plain gray. A classifier that flags it would block everything. */
export async function checkClassifier({ media: { screeningUrl, screeningRules } }: Config): Promise<string> {
  if (screeningUrl === undefined) return 'none (MEDIA_SCREENING_URL is not set)';
  const gray = { width: 64, height: 64, channels: 3, background: '#808080' } as const;
  const { default: sharp } = await import('sharp');
  const bytes = await sharp({ create: gray }).png().toBuffer();
  const classifier = createClassifier(screeningUrl);
  const place = placeOf(screeningUrl);
  try {
    const image = { assetId: '00000000-0000-0000-0000-000000000000', mime: 'image/png', bytes };
    const { list, labels } = await classifier.classify(image, AbortSignal.timeout(10_000));
    if (list !== undefined) throw new Error(`it blocks a plain gray image (list ${list || 'without a name'})`);
    const [hit] = hitsOf(screeningRules, labels);
    if (hit?.action === 'block') throw new Error(`MEDIA_SCREENING_RULES block a plain gray image (${hit.label})`);
    return `the classifier at ${place}`;
  } catch (error) {
    throw new Error(`the classifier at ${place} is unusable (${describeContent(error)}); check MEDIA_SCREENING_URL`);
  } finally {
    await classifier.close();
  }
}

// Checks the servers that operators connect: MCP servers, and the receiver of webhooks.

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
