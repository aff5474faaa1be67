export { accessChecks } from './access.ts';
export { instanceChecks, readInstance } from './instance.ts';
export { linkChecks, siteChecks } from './link.ts';
export { pageChecks } from './page.ts';
export { protocolChecks } from './protocol.ts';
export { refusalChecks } from './refusals.ts';
