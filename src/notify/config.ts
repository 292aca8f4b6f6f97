import { address, setting, text, type Values } from '#platform/config.ts';

/** docs/specification/system.md#engines, the row "email". */
export const notifySettings = {
  from: setting(
    'NOTIFY_FROM',
    (raw) => {
      if (/[\r\n]/.test(raw) || !raw.includes('@')) throw new Error('must be an address, or `Name <address>`');
      return raw;
    },
    { default: 'noreply@example.com', requiredInProduction: true },
  ),
  resendApiKey: text('RESEND_API_KEY', { secret: true }),
  resendBaseUrl: address('RESEND_BASE_URL', { default: 'https://api.resend.com' }),
  smtpUrl: setting(
    'SMTP_URL',
    (raw) => {
      if (raw !== 'outbox' && !/^smtps?:\/\/[^/]/.test(raw)) throw new Error('must be an smtp(s):// URL or `outbox`');
      return raw;
    },
    { default: 'outbox', secret: true },
  ),
  appUrl: address('NOTIFY_APP_URL', { requiredInProduction: true }),
  unsubscribeUrl: address('NOTIFY_UNSUBSCRIBE_URL', { requiredInProduction: true, httpsInProduction: true }),
  templatesDir: text('NOTIFY_TEMPLATES_DIR'),
  brandName: text('NOTIFY_BRAND_NAME'),
  brandLogoUrl: address('NOTIFY_BRAND_LOGO_URL', { httpsInProduction: true }),
  brandColor: setting(
    'NOTIFY_BRAND_COLOR',
    (raw) => {
      if (!/^#[0-9a-f]{6}$/i.test(raw)) throw new Error('must be a color: # and six hex digits');
      return raw.toLowerCase();
    },
    { default: '#3730a3' },
  ),
  postalAddress: text('NOTIFY_POSTAL_ADDRESS'),
} as const;

export type NotifySettings = Values<typeof notifySettings>;
