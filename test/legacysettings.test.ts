/** Which legacy backend a configuration selects (docs/specification/media.md#legacy-files). */
import { describe, expect, it } from 'vitest';
import { legacyOf, readConfig, servicesByDefault } from '#app/config.ts';
import { ConfigFault } from '#platform/config.ts';

const production = {
  NODE_ENV: 'production',
  DATABASE_URL: 'embedded',
  REDIS_URL: 'embedded',
  S3_ENDPOINT: 'embedded',
  IDP_URL: 'https://idp.example',
  ANON_KEY: 'anon',
  INTERNAL_KEY: 'internal',
  IMGPROXY_KEY: '00',
  IMGPROXY_SALT: '00',
  IMGPROXY_URL: 'https://resize.example',
  PUBLIC_CDN_URL: 'https://cdn.example',
  SVC_IMAGE_KEY_SECRET: 'secret',
  EDGE_URL: 'https://edge.example',
};
const keys = { LEGACY_S3_ACCESS_KEY_ID: 'id', LEGACY_S3_SECRET_ACCESS_KEY: 'key' };
const read = (environment: Readonly<Record<string, string>>) =>
  legacyOf(readConfig(environment, ['media'], { keepSecrets: false }));

it.each<[string, Readonly<Record<string, string>>, string | undefined]>([
  ['unset', {}, 'embedded'],
  ['empty', { LEGACY_S3_ENDPOINT: '' }, 'embedded'],
  ['embedded', { LEGACY_S3_ENDPOINT: 'embedded' }, 'embedded'],
  ['a URL', { LEGACY_S3_ENDPOINT: 'https://old.example/', ...keys }, 'https://old.example'],
  ['in production unset', production, undefined],
  ['in production empty', { ...production, LEGACY_S3_ENDPOINT: '' }, undefined],
  ['in production embedded', { ...production, LEGACY_S3_ENDPOINT: 'embedded' }, 'embedded'],
  ['in production a URL', { ...production, LEGACY_S3_ENDPOINT: 'https://old.example', ...keys }, 'https://old.example'],
])('%s', (_name, environment, endpoint) => {
  expect(read(environment)).toMatchObject({ endpoint, region: 'auto' });
});

describe('an invalid configuration names the setting', () => {
  it.each<[Readonly<Record<string, string>>, RegExp]>([
    [{ LEGACY_S3_ENDPOINT: 'old' }, /LEGACY_S3_ENDPOINT/],
    [{ LEGACY_S3_ENDPOINT: 'https://old.example' }, /LEGACY_S3_ACCESS_KEY_ID.*LEGACY_S3_SECRET_ACCESS_KEY/],
    [{ LEGACY_S3_ENDPOINT: 'https://old.example', LEGACY_S3_ACCESS_KEY_ID: 'id' }, /LEGACY_S3_SECRET_ACCESS_KEY/],
  ])('%j', (environment, said) => {
    expect(() => read(environment)).toThrow(ConfigFault);
    expect(() => read(environment)).toThrow(said);
  });
});

it('the folder requires the edge, in production too', () => {
  const s3 = { ...production, S3_ENDPOINT: 'https://s3.example' };
  expect(servicesByDefault(s3)).not.toContain('edge');
  expect(servicesByDefault({ ...s3, LEGACY_S3_ENDPOINT: 'embedded' })).toContain('edge');
  expect(servicesByDefault({ ...s3, LEGACY_S3_ENDPOINT: 'https://old.example' })).not.toContain('edge');
});
