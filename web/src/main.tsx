import './styles/index.css';
import { sweepStorage } from './download/index.ts';
import { App, startPage } from './ui/shell/index.ts';

void startPage(<App />, location.search);
void sweepStorage();
if (import.meta.env.PROD) void navigator.serviceWorker?.register('/service-worker.js');
