import { renderToString } from 'preact-render-to-string';
import english from '../../../locales/en.json';
import { createTexts } from '../../lib/index.ts';
import { type Page, PageContext } from '../context.ts';
import { Shell } from '../shell/index.ts';

/**
 * The first HTML of the page in English, for the build: header and field, which work before the script has loaded. It
 * has the structure of the page as the script renders it, so that its elements stay, with the text typed into the field.
 */
export function prerenderShell(): string {
  const page: Pick<Page, 'texts' | 'primaryAction'> = {
    texts: createTexts('en', english),
    primaryAction: { current: undefined },
  };
  return renderToString(
    <PageContext.Provider value={page as Page}>
      <Shell />
    </PageContext.Provider>,
  );
}
