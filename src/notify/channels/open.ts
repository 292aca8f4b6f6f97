/** The one place that chooses how mails leave (CONTRACT §2). */
import type { NotifySettings } from '../config.ts';
import type { Channel } from './channel.ts';
import { openOutbox } from './outbox.ts';
import { openProvider } from './provider.ts';
import { openSmtp } from './smtp.ts';

export async function openChannel(
  settings: Pick<NotifySettings, 'resendApiKey' | 'resendBaseUrl' | 'smtpUrl'>,
  dataDir: string,
): Promise<Channel> {
  const { resendApiKey, resendBaseUrl, smtpUrl } = settings;
  if (resendApiKey !== undefined) return openProvider({ baseUrl: resendBaseUrl, apiKey: resendApiKey });
  return smtpUrl === 'outbox' ? openOutbox(dataDir) : openSmtp(smtpUrl);
}
