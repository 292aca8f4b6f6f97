import { describe, expect, it } from 'vitest';
import { readConfig, standInsOf } from '#app/config.ts';

const read = (environment: Record<string, string>) => readConfig(environment, ['agent'], { keepSecrets: false });

describe.each(['IMAGE_MODEL', 'VIDEO_MODEL'])('%s_PROVIDER', (prefix) => {
  const named = { [`${prefix}_PROVIDER`]: 'fal', [`${prefix}_NAME`]: 'fal-ai/a', [`${prefix}_API_KEY`]: 'x' };

  it('replaces the offline renderer and needs no URL', () => {
    const config = read(named);
    const settings = standInsOf(config, ['agent']).map(({ setting }) => setting);
    expect(settings).not.toContain(`${prefix}_BASE_URL`);
    expect(standInsOf(read({}), ['agent']).map(({ setting }) => setting)).toContain(`${prefix}_BASE_URL`);
  });

  it('needs no URL in production either', () => {
    const fault = (environment: Record<string, string>) => {
      try {
        return read({ NODE_ENV: 'production', ...environment }) && '';
      } catch (error) {
        return String(error);
      }
    };
    expect(fault(named)).not.toContain(`${prefix}_BASE_URL`);
    expect(fault({})).toContain(`${prefix}_BASE_URL`);
  });

  it('needs a name', () => {
    expect(() => read({ [`${prefix}_PROVIDER`]: 'fal' })).toThrow(`missing: ${prefix}_NAME`);
  });

  it.each([
    ['luma-labs', 'must be one of openai-compatible, anthropic,'],
    [
      'azure',
      'needs the package @ai-sdk/azure, which is not installed: run `npm install --save-prod --omit=dev @ai-sdk/azure@4`',
    ],
  ])('%s is a start fault', (provider, message) => {
    expect(() => read({ [`${prefix}_PROVIDER`]: provider })).toThrow(`${prefix}_PROVIDER ${message}`);
  });
});
