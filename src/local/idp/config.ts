import { randomBytes } from 'node:crypto';
import { list, secret, setting } from '#platform/config.ts';

export const idpSettings = {
  secret: {
    ...secret('LOCAL_IDP_SECRET', {
      make: () => randomBytes(32).toString('hex'),
      meaning:
        'The secret that `npm run token` sends to the local identity provider. Not set in production: tokens are disabled.',
    }),
    requiredInProduction: false,
  },
  redirectUrls: list('IDP_REDIRECT_URLS', {
    default: [],
    meaning: 'Further exact redirect URLs of the local identity provider, in addition to `{PUBLIC_BASE_URL}/callback`.',
  }),
  allowNonLoopback: setting(
    'IDP_ALLOW_NON_LOOPBACK',
    {
      default: false,
      meaning:
        '`true`: the local identity provider may listen on addresses that other machines can reach. It signs in any user without a password.',
    },
    (raw) => {
      if (raw !== 'true' && raw !== 'false') throw new Error('must be true or false');
      return raw === 'true';
    },
  ),
} as const;
