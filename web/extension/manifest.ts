/** Browsers that need manifests of their own. */
export const BROWSERS = ['chromium', 'firefox'] as const;
export type Browser = (typeof BROWSERS)[number];

/**
 * The extension's manifest, version 3. Chromium runs the background script as a service worker, Firefox as an event
 * page. It needs no host permissions: `activeTab` gives the address of the page where the visitor clicked.
 * @param version dotted integers
 */
export const manifestFor = (browser: Browser, version: string) => ({
  manifest_version: 3,
  name: '__MSG_name__',
  description: '__MSG_description__',
  version,
  default_locale: 'en',
  permissions: ['activeTab', 'contextMenus', 'storage'],
  action: { default_title: '__MSG_open__' },
  icons: { 192: 'icon-192.png', 512: 'icon-512.png' },
  options_ui: { page: 'options.html', open_in_tab: true },
  background:
    browser === 'chromium'
      ? { service_worker: 'background.js', type: 'module' }
      : { scripts: ['background.js'], type: 'module' },
  ...(browser === 'firefox' && {
    browser_specific_settings: {
      // Firefox stores settings by this identifier; the first version that supports all of the above.
      gecko: {
        id: 'extension@reelay.example',
        strict_min_version: '128.0',
        data_collection_permissions: { required: ['none'] },
      },
    },
  }),
});
