import { mailboxOf } from './mail.ts';

/** The operator's brand in every mail. */
export interface Brand {
  readonly name: string;
  readonly logoUrl?: string | undefined;
  /** `#rrggbb` */
  readonly color: string;
  readonly postalAddress?: string | undefined;
}

/** The name in `Name <address>`. Without one, `Atelier`. */
export function nameIn(sender: string): string {
  return mailboxOf(sender)?.name || 'Atelier';
}

/** Adds the name of the brand to a sender that has none. */
export function senderOf(from: string, brandName: string): string {
  const mailbox = mailboxOf(from);
  return mailbox?.name === '' ? `"${brandName.replace(/["\\]/g, '\\$&')}" <${mailbox.address}>` : from;
}

/** Returns black or white, whichever has more contrast to the color (WCAG 2.2, relative luminance). */
export function textColorOn(color: string): '#ffffff' | '#18181b' {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return channel <= 0.03928 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? '#18181b' : '#ffffff';
}
