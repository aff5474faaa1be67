import { renderToString } from 'preact-render-to-string';
import english from '../../../locales/en.json';
import { createTexts } from '../../texts.ts';
import { PageContext, type PageState } from '../context.ts';
import { Shell } from './app.tsx';

/**
 * The first HTML of the page in English, for the build: header and field, which work before the script has loaded. It
 * has the structure of the page as the script renders it, so that its elements stay, with the text typed into the field.
 */
export function prerenderShell(): string {
  const page: Pick<PageState, 't' | 'primaryAction'> = {
    t: createTexts('en', english).t,
    primaryAction: { current: undefined },
  };
  return renderToString(
    <PageContext.Provider value={page as PageState}>
      <Shell />
    </PageContext.Provider>,
  );
}
