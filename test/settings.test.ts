/** Settings as a whole: what production requires, and misspelled names. */
import { describe, expect, it } from 'vitest';
import { readConfig, type ServiceName, warningsOf } from '#app/config.ts';
import texts from '#app/settings.json' with { type: 'json' };
import { allSettings, textsOf } from '#app/settings.ts';
import { findMisspellings } from '#platform/misspelling.ts';

const names = allSettings.map(({ variable }) => variable);
const likely = (variable: string) => findMisspellings([variable], names)[0]?.likely;

it('has a text for each setting, and no others', () => {
  expect(Object.keys(texts).toSorted()).toEqual(names.toSorted());
  const meanings = allSettings.map((setting) => textsOf(setting).meaning);
  expect(meanings.filter((meaning) => /^$|\{choices\}|: \.$/.test(meaning))).toEqual([]);
});

describe('a misspelled setting', () => {
  it.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_ULR', 'DATABASE_URL'],
    ['DATABASE_UR', 'DATABASE_URL'],
    ['DATABASEURL', 'DATABASE_URL'],
    ['REDIS_URI', 'REDIS_URL'],
    ['REDS_UL', 'REDIS_URL'],
    ['S3_BUKCT', 'S3_BUCKET'],
    ['S3_ENDPIONT', 'S3_ENDPOINT'],
    ['IDP_ULR', 'IDP_URL'],
    ['CMS_UR', 'CMS_URL'],
    ['NOTIFY_FORM', 'NOTIFY_FROM'],
    ['COOKIE_SECRET', 'COOKIE_SECRETS'],
    ['COOKIES_SECRET', 'COOKIE_SECRETS'],
    ['NODE_EVN', 'NODE_ENV'],
    ['MEDIA_BLOCKED_HASHS', 'MEDIA_BLOCKED_HASHES'],
    ['IMAGE_MODEL_NAM', 'IMAGE_MODEL_NAME'],
    ['LOG_LEVELS', 'LOG_LEVEL'],
  ])('%s is likely %s', (variable, setting) => {
    expect(likely(variable)).toBe(setting);
  });

  it('is not reported if the name is a setting', () => {
    expect(findMisspellings(names, names)).toEqual([]);
  });

  it('is not reported if other programs use the name', () => {
    const foreign =
      `PATH HOME USER SHELL LANG LANGUAGE LC_ALL TERM PWD OLDPWD SHLVL HOSTNAME HOST_IP POST PORT PORTS HOSTS HTTP_PORT LOGNAME
      MAIL EDITOR TZ TMPDIR CI DEBUG VERBOSE NODE_OPTIONS NODE_PATH NODE_NAME NODE_VERSION POD_NAME POD_IP NAMESPACE DB_URL DB_HOST
      DATABASE_NAME DATABASE_HOST DATABASE_PORT DATABASE_USER PGHOST PGUSER PGPASSWORD POSTGRES_PASSWORD POSTGRES_URL MYSQL_URL MONGO_URL
      REDIS_HOST REDIS_PORT REDIS_PASSWORD REDIS_SERVICE_HOST MEDIA_PORT MEDIA_SERVICE_HOST AUTH_PORT IMAGE_TAG IMAGE_NAME AGENT_ID AGENT_NAME
      AWS_REGION AWS_URL AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY S3_KEY S3_URL HTTP_PROXY HTTPS_PROXY NO_PROXY HTTP_URL CDN_URL API_URL APP_URL
      BASE_URL WEB_URL API_KEY APP_KEY OPENAI_API_KEY OPENAI_BASE_URL ANTHROPIC_API_KEY SENTRY_DSN LOG_FILE LOG_PATH LOG_DIR SMTP_HOST
      SMTP_PORT SMTP_USER RESEND_FROM OTEL_SERVICE_NAME OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_PROTOCOL MALLOC_ARENA_MAX
      UV_THREADPOOL_SIZE GITHUB_TOKEN GITHUB_REF RUNNER_OS INIT_CWD INVOCATION_ID JOURNAL_STREAM STATE_DIRECTORY XDG_RUNTIME_DIR`.split(
        /\s+/,
      );
    expect(findMisspellings(foreign, names)).toEqual([]);
  });

  it('is a warning that names the likely setting', () => {
    const environment = { DATABSE_URL: 'postgres://user:secret@db/x' };
    const [warning, ...rest] = warningsOf(environment, ['media']);
    expect([warning, rest]).toEqual([expect.stringMatching(/DATABSE_URL.*DATABASE_URL/), []]);
    expect(warning).not.toContain('secret');
  });

  it('is reported together with the setting that is missing because of it', () => {
    const environment = { NODE_ENV: 'production', DATABSE_URL: 'postgres://db/x' };
    expect(() => readConfig(environment, ['media'])).toThrow(/missing in production: .*DATABASE_URL.*DATABSE_URL/s);
  });
});

describe('mail in production', () => {
  it.each([
    [{}, true],
    [{ RESEND_API_KEY: 're_1' }, false],
    [{ SMTP_URL: 'smtps://mail.example.com' }, false],
  ])('with %j, both settings are named: %j', (settings, isNamed) => {
    const start = () => readConfig({ NODE_ENV: 'production', ...settings }, ['notify']);
    const both = 'missing: RESEND_API_KEY or SMTP_URL';
    expect(start).toThrow(isNamed ? new RegExp(both) : new RegExp(`^(?![\\s\\S]*${both})`));
  });
});

describe('a setting with a wrong value', () => {
  it.each([
    ['ATELIER_PORT_BASE', 'many'],
    ['SVC_IMAGE_MAX_SRC_PIXELS', '0'],
    ['DATABASE_URL', 'mysql://x'],
    ['S3_ENDPOINT', 'not a URL'],
    ['IMGPROXY_KEY', 'zz'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'xml'],
    ['EDGE_URL', 'edge'],
    ['RESEND_WEBHOOK_SECRET', 'whsec_'],
    ['HOST', 'http://localhost'],
    ['HOST', '999.1.1.1'],
    ['ATELIER_DATA_DIR', '/dev/null'],
  ])('%s=%s is rejected by name, in one line', (name, value) => {
    let message = '';
    try {
      readConfig({ [name]: value }, [], { keepSecrets: false });
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain(name);
    expect(message).not.toContain('\n');
  });
});

describe('production', () => {
  const missing = (services: readonly ServiceName[], environment: Readonly<Record<string, string>> = {}) => {
    try {
      readConfig({ NODE_ENV: 'production', ...environment }, services);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  const ofMails = ['NOTIFY_FROM', 'NOTIFY_APP_URL', 'NOTIFY_UNSUBSCRIBE_URL'];
  const ofSitemaps = ['SITEMAP_USER_URL', 'SITEMAP_FEED_URL'];

  it.each([
    ['notify', ofMails, ofSitemaps],
    ['content', ofSitemaps, ofMails],
  ] as const)('requires the public URLs of %s, and not those of others', (service, wanted, others) => {
    for (const name of wanted) expect(missing([service])).toContain(name);
    for (const name of others) expect(missing([service])).not.toContain(name);
  });

  it('requires https for the unsubscribe URL if mail is sent', () => {
    const plain = { NOTIFY_UNSUBSCRIBE_URL: 'http://content.example.com/unsubscribe' };
    expect(missing(['notify'], plain)).toMatch(/NOTIFY_UNSUBSCRIBE_URL must be an https URL/);
    expect(missing(['notify'], { NOTIFY_UNSUBSCRIBE_URL: 'https://x.example/unsubscribe' })).not.toContain(
      'UNSUBSCRIBE',
    );
    expect(missing(['content'], plain)).not.toContain('UNSUBSCRIBE');
    expect(() => readConfig({ ...plain }, ['notify'], { keepSecrets: false })).not.toThrow();
  });

  it('warns about the built-in embedder if memories are stored', () => {
    const environment = { NODE_ENV: 'production', EMBEDDING_BASE_URL: 'builtin' };
    expect(warningsOf(environment, ['memory'])).toEqual([expect.stringContaining('EMBEDDING_BASE_URL')]);
    expect(warningsOf(environment, ['media'])).toEqual([]);
    expect(warningsOf({ EMBEDDING_BASE_URL: 'builtin' }, ['memory'])).toEqual([]);
    expect(warningsOf({ ...environment, EMBEDDING_BASE_URL: 'https://models.example/v1' }, ['memory'])).toEqual([]);
  });
});
