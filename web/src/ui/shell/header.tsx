import { usePage } from '../context.ts';
import { Logo } from './logo.tsx';

export interface HeaderProps {
  /** Animates the line while loading. */
  readonly isMoving: boolean;
  readonly onHome?: (event: MouseEvent) => void;
}

/** Logo and name. */
export const Header = ({ isMoving, onHome }: HeaderProps) => {
  const { t } = usePage().texts;
  return (
    <header class="header">
      <div class="wrap">
        <a class="home-link" href="/" onClick={onHome} aria-label={t('app.home')}>
          <Logo />
          <span class="name">{t('app.name')}</span>
        </a>
      </div>
      <div class={isMoving ? 'tape moving' : 'tape'} />
    </header>
  );
};
