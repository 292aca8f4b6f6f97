import { randomBytes } from 'node:crypto';
import { list, secret, setting } from '#platform/config.ts';

export const idpSettings = {
  secret: {
    ...secret('LOCAL_IDP_SECRET', {
      make: () => randomBytes(32).toString('hex'),
      meaning:
        'What `npm run token` has to send to the local identity provider. Not set in production: no tokens that way.',
    }),
    requiredInProduction: false,
  },
  redirectUrls: list('IDP_REDIRECT_URLS', {
    default: [],
    meaning:
      'Further addresses that the local identity provider sends browsers back to, exactly, beside `{PUBLIC_BASE_URL}/callback`.',
  }),
  allowNonLoopback: setting(
    'IDP_ALLOW_NON_LOOPBACK',
    {
      default: false,
      meaning:
        '`true`: the local identity provider may listen where other machines reach it. It signs anybody in as anybody.',
    },
    (raw) => {
      if (raw !== 'true' && raw !== 'false') throw new Error('must be true or false');
      return raw === 'true';
    },
  ),
} as const;
