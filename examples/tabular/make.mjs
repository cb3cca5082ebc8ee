// Makes flats.parquet and flats.arrow: npm install apache-arrow parquet-wasm, then node make.mjs
import {writeFileSync} from "node:fs";
import {Float64, tableFromIPC, tableToIPC, vectorFromArray, Int32, Table} from "apache-arrow";
import * as parquet from "parquet-wasm";

const flats = new Table({
  squareMetres: vectorFromArray([70, 32.5, 120], new Float64()),
  rooms: vectorFromArray([3, 1, 5], new Int32()),
});
const stream = tableToIPC(flats, "stream");
writeFileSync("flats.arrow", stream);
const settings = new parquet.WriterPropertiesBuilder().setCompression(parquet.Compression.SNAPPY).build();
writeFileSync("flats.parquet", parquet.writeParquet(parquet.Table.fromIPCStream(stream), settings));
