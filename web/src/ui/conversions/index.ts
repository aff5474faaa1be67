export { apiQualityOf, useSignedUrls } from './use-signed-urls.ts';
