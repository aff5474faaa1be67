import { usePage } from '../context.ts';
import type { Outcome } from '../session.ts';
import { LinkField } from './link-field.tsx';

/** The logo: a reel with a play sign. Mirrored in right-to-left pages. */
const Logo = () => (
  <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
    <path class="logo-reel" d="M12 0a12 12 0 0 0 0 24h12v-3H19.94A12 12 0 0 0 12 0Z" />
    <path class="logo-play" d="M8.7 6.3v11.4l9.4-5.7Z" />
  </svg>
);

/** Logo and name, and a line that moves while a link is resolved. */
export const Header = ({ isMoving = false }: { readonly isMoving?: boolean }) => {
  const { t } = usePage();
  return (
    <header class="header">
      <div class="wrap">
        <a class="home-link" href="./" aria-label={t('app.home')}>
          <Logo />
          <span class="name">{t('app.name')}</span>
        </a>
      </div>
      <div class={isMoving ? 'tape moving' : 'tape'} />
    </header>
  );
};

/** The headline and the field; above a result the field alone. */
export const Hero = ({ outcome }: { readonly outcome: Outcome }) => {
  const { t } = usePage();
  return (
    <div class={outcome.phase === 'idle' ? 'hero' : 'hero small'}>
      <h1>{t('app.headline')}</h1>
      <p class="lede">{t('app.lede')}</p>
      <LinkField outcome={outcome} />
    </div>
  );
};

/** What the start page shows of itself before its script has loaded: the first elements of `App`. */
export const Shell = () => (
  <div class="page">
    <Header />
    <main class="wrap">
      <Hero outcome={{ phase: 'idle' }} />
    </main>
  </div>
);
