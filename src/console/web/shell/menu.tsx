/** A menu of actions under a button. It leaves the page scrollable, because locking it would add a style sheet. */
import type { LucideIcon, LucideProps } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ComponentType, ReactNode } from 'react';
import { useTopDialog } from './modal.ts';

interface MenuProps {
  readonly trigger: ReactNode;
  readonly align?: 'start' | 'end';
  /** What is around the trigger would cut it off. */
  readonly isFloating?: boolean;
  readonly children: ReactNode;
}

export function Menu({ trigger, align = 'start', isFloating = false, children }: MenuProps) {
  // A dialog covers the page, so the menu has to be in it.
  const dialog = useTopDialog();
  const content = (
    <DropdownMenu.Content className="menu" align={align} sideOffset={4} collisionPadding={8}>
      {children}
    </DropdownMenu.Content>
  );
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      {isFloating ? (
        <DropdownMenu.Portal {...(dialog && { container: dialog })}>{content}</DropdownMenu.Portal>
      ) : (
        content
      )}
    </DropdownMenu.Root>
  );
}

interface MenuItemProps {
  readonly Icon: LucideIcon;
  readonly tone?: 'plain' | 'danger';
  readonly isDisabled?: boolean;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

export function MenuItem({ Icon, tone = 'plain', isDisabled = false, onSelect, children }: MenuItemProps) {
  return (
    <DropdownMenu.Item className={`menuitem ${tone}`} disabled={isDisabled} onSelect={onSelect}>
      <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
      {children}
    </DropdownMenu.Item>
  );
}

export const MenuLine = () => <DropdownMenu.Separator className="menuline" />;

interface MenuChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly {
    readonly value: string;
    readonly title: string;
    readonly Icon?: ComponentType<LucideProps>;
  }[];
  readonly onChange: (value: string) => void;
}

/** One of a few choices, side by side. The menu stays open, so that the effect can be seen. */
export function MenuChoice({ label, value, choices, onChange }: MenuChoiceProps) {
  return (
    <DropdownMenu.RadioGroup value={value} onValueChange={onChange} aria-label={label} className="menuchoices">
      {choices.map(({ value: choice, title, Icon }) => (
        <DropdownMenu.RadioItem
          key={choice}
          value={choice}
          className="menuchoice"
          onSelect={(event) => event.preventDefault()}
        >
          {Icon && <Icon size={16} strokeWidth={1.75} aria-hidden="true" />}
          {title}
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}
