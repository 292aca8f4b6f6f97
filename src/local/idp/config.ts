import { randomBytes } from 'node:crypto';
import { flag, list, secret } from '#platform/config.ts';

export const idpSettings = {
  secret: {
    ...secret('LOCAL_IDP_SECRET', { make: () => randomBytes(32).toString('hex') }),
    requiredInProduction: false,
  },
  redirectUrls: list('IDP_REDIRECT_URLS'),
  allowNonLoopback: flag('IDP_ALLOW_NON_LOOPBACK', { default: false }),
} as const;
