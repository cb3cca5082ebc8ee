package dev.berth.content;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/// CSV as documents and as tensors.
public final class CsvType extends ContentType implements ContentType.OfDocuments, ContentType.OfTensors {

    CsvType() {
        super(List.of(MediaType.CSV), List.of("csv"), Framing.LINES);
    }

    @Override
    public Documents readDocuments(InvocationRequest request, List<String> fields) throws IOException {
        return new Documents.Records(CsvDocuments.read(request, fields));
    }

    @Override
    public InvocationResponse writeDocuments(
            List<?> documents, List<String> fields, Instances.Form form, MediaType accept) throws IOException {
        var rows = documents.stream()
                .map(document -> CsvDocuments.cells(document, fields))
                .toList();
        return InvocationResponse.of(Csv.write(rows), accept);
    }

    @Override
    public TensorRecords readTensors(InvocationRequest request, TensorInputs inputs) throws IOException {
        if (!inputs.table().isKnown()) {
            inputs.checkOne(request);
        }
        return CsvTensors.records(request, inputs);
    }

    @Override
    public InvocationResponse writeTensors(TensorPredictions predictions, MediaType accept) throws IOException {
        predictions.chargeElements(TensorPredictions.NUMBER_AS_TEXT);
        var rows = predictions.inPlace(
                outputs -> outputs.stream()
                        .flatMap(output -> Arrays.stream(CsvTensors.cells(output)))
                        .toArray(),
                message -> new Object[] {Csv.error(message)});
        return InvocationResponse.of(Csv.write(rows), accept);
    }
}
