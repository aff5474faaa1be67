import type { ComponentProps } from 'preact';
import { Icon, type IconName } from './icons.tsx';

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'icon' | 'name'> {
  readonly icon?: IconName | undefined;
  /** Classes. @default 'plain small' */
  readonly look?: string;
  /** Accessible name of a button that shows only an icon, and its tooltip unless `title` is set. */
  readonly name?: string;
}

/** A button of the page. */
export const Button = ({ icon, look = 'plain small', name, children, ...others }: ButtonProps) => (
  <button type="button" class={`button ${look}${children ? '' : ' square'}`} aria-label={name} title={name} {...others}>
    {icon && <Icon name={icon} />}
    {children}
  </button>
);

/** The size of a file, after the words of its button. */
export const ButtonSize = ({ size }: { readonly size: string | undefined }) =>
  size ? (
    <span class="size">
      {' · '}
      <bdi>{size}</bdi>
    </span>
  ) : null;
