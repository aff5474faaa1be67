export {
  createAccessControl,
  createKeyGuesses,
  createOriginSecretCheck,
  createSignatureCheck,
  hashOfKey,
  ORIGIN_SECRET_HEADER,
  type OriginSecretCheck,
} from './access-secrets.ts';
export {
  ACCESS_HEADER,
  ACCESS_PARAMETER,
  ACCESS_VARY,
  accessHeaderOf,
  clientAddress,
  clientOf,
  createClientNames,
  limitedBy,
  linkSignerFor,
  NO_ACCESS_KEY,
  networkOf,
  ownJobId,
  readClient,
  type SignKey,
  signerFor,
  trustedEntry,
} from './client.ts';
export {
  contentDisposition,
  fileName,
  type ListFileNames,
  listFileNames,
  type Naming,
  namingAs,
  namingOf,
  oneLine,
} from './file-name.ts';
export type { HostAnswer, HostEvent } from './host-event.ts';
export { JSON_TYPES, prefersHtml, readWaitPreference, renderJson } from './negotiation.ts';
export {
  corsHeaders,
  crossSiteHeaders,
  entityTag,
  isCrossSiteSubrequest,
  isForCrossSite,
  isForeignPage,
  mergeVary,
  preflightHeaders,
} from './response-headers.ts';
export { element, escapeXml, textElement, XML_DECLARATION } from './xml.ts';
