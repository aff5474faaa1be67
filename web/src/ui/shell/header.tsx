import { usePage } from '../context.ts';

/** The logo: a reel with a play sign. Mirrored in right-to-left pages. */
const Logo = () => (
  <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
    <path class="logo-reel" d="M12 0a12 12 0 0 0 0 24h12v-3H19.94A12 12 0 0 0 12 0Z" />
    <path class="logo-play" d="M8.7 6.3v11.4l9.4-5.7Z" />
  </svg>
);

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
