import { address, setting, text, type Values } from '#platform/config.ts';

/** docs/specification/system.md#engines, the row "email". */
export const notifySettings = {
  from: setting(
    'NOTIFY_FROM',
    {
      default: 'noreply@example.com',
      requiredInProduction: true,
      meaning: 'The sender of notifications: `Name <address>`. Without a name, the sender is `NOTIFY_BRAND_NAME`.',
    },
    (raw) => {
      if (/[\r\n]/.test(raw) || !raw.includes('@')) throw new Error('must be an address, or `Name <address>`');
      return raw;
    },
  ),
  resendApiKey: text('RESEND_API_KEY', {
    secret: true,
    meaning: 'Sends email through the provider’s HTTP API with this key.',
  }),
  resendBaseUrl: address('RESEND_BASE_URL', {
    default: 'https://api.resend.com',
    meaning: 'The URL of that API.',
  }),
  smtpUrl: setting(
    'SMTP_URL',
    {
      default: 'outbox',
      secret: true,
      meaning:
        'Sends email through this SMTP server: `smtps://user:password@host`. `outbox`: .eml files in the data folder. Required in production unless `RESEND_API_KEY` is set.',
    },
    (raw) => {
      if (raw !== 'outbox' && !/^smtps?:\/\/[^/]/.test(raw)) throw new Error('must be an smtp(s):// URL or `outbox`');
      return raw;
    },
  ),
  appUrl: address('NOTIFY_APP_URL', {
    defaultText: 'the console',
    requiredInProduction: true,
    meaning: 'The URL of the application, to which emails link.',
  }),
  unsubscribeUrl: address('NOTIFY_UNSUBSCRIBE_URL', {
    requiredInProduction: true,
    httpsInProduction: true,
    meaning:
      'The public URL of the content service’s `/unsubscribe`; not set: `/unsubscribe` at `CONTENT_URL`. In production, it must be https, because one-click unsubscribe requires it.',
  }),
  templatesDir: text('NOTIFY_TEMPLATES_DIR', {
    meaning: 'A folder with your own notification types (docs/notify.md), read at the start.',
  }),
  brandName: text('NOTIFY_BRAND_NAME', {
    defaultText: '`BRAND_NAME`, or the name in `NOTIFY_FROM`',
    meaning: 'The name of your product, in every notification.',
  }),
  brandLogoUrl: address('NOTIFY_BRAND_LOGO_URL', {
    httpsInProduction: true,
    meaning: 'An image next to that name, 32 pixels high.',
  }),
  brandColor: setting(
    'NOTIFY_BRAND_COLOR',
    { default: '#3730a3', meaning: 'The color of buttons: `#rrggbb`.' },
    (raw) => {
      if (!/^#[0-9a-f]{6}$/i.test(raw)) throw new Error('must be a color: # and six hex digits');
      return raw.toLowerCase();
    },
  ),
  postalAddress: text('NOTIFY_POSTAL_ADDRESS', {
    meaning: 'Your postal address, shown below every notification. Many countries require it in marketing email.',
  }),
} as const;

export type NotifySettings = Values<typeof notifySettings>;
