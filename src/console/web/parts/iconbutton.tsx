import type { LucideIcon } from 'lucide-react';
import type { ComponentProps } from 'react';

export const icon = { size: 16, strokeWidth: 1.75, 'aria-hidden': true } as const;

type Properties = Omit<ComponentProps<'button'>, 'children'> & {
  readonly label: string;
  readonly Icon: LucideIcon;
  readonly size?: number;
};

/** A button that shows only an icon. Its label is also its tooltip. */
export function IconButton({ label, Icon, size = 16, className = 'plain icon', ...rest }: Properties) {
  return (
    <button type="button" className={className} aria-label={label} title={label} {...rest}>
      <Icon size={size} strokeWidth={1.75} aria-hidden="true" />
    </button>
  );
}

/** A button that shows an icon and a text. */
export const Button = ({
  Icon,
  text,
  ...rest
}: Omit<ComponentProps<'button'>, 'children'> & Pick<Properties, 'Icon'> & { readonly text: string }) => (
  <button type="button" {...rest}>
    <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
    <span>{text}</span>
  </button>
);
