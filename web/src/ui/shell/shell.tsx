import { Header } from './header.tsx';
import { Hero } from './hero.tsx';

const ignore = () => undefined;

/** What the start page shows of itself before its script has loaded; see `MainPage` for the same elements. */
export const Shell = () => (
  <div class="page">
    <div role="status" />
    <Header isMoving={false} />
    <main class="wrap">
      <Hero isSmall={false} link={undefined} text={undefined} isResolved={false} onLinks={ignore} onClear={ignore} />
    </main>
  </div>
);
