export { demux, type EsCodec, type EsStream } from './demux.ts';
export {
  CLOCK_HZ,
  CLOCK_PERIOD,
  PACKET_BYTES,
  payloadStart,
  pidOf,
  readMapPid,
  readPesStart,
  SYNC_BYTE,
  ticksBetween,
} from './packets.ts';
