/** Chooses how mails are sent (docs/specification/system.md#engines). Only the chosen driver is loaded. */
import type { NotifySettings } from '../config.ts';
import type { Channel } from './channel.ts';

export async function openChannel(
  settings: Pick<NotifySettings, 'resendApiKey' | 'resendBaseUrl' | 'smtpUrl'>,
  dataDir: string,
): Promise<Channel> {
  const { resendApiKey, resendBaseUrl, smtpUrl } = settings;
  if (resendApiKey !== undefined) {
    const { openProvider } = await import('./provider.ts');
    return openProvider({ baseUrl: resendBaseUrl, apiKey: resendApiKey });
  }
  if (smtpUrl !== 'outbox') return (await import('./smtp.ts')).openSmtp(smtpUrl);
  return (await import('./outbox.ts')).openOutbox(dataDir);
}
