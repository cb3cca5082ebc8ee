package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.NotAcceptableException;
import dev.berth.hooks.UnsupportedMediaTypeException;
import java.io.IOException;
import java.util.List;

/// What payloads are written in, such as JSON or NumPy's arrays: its names. Immutable, so that
/// all threads can use it.
///
/// The interfaces here say what a type is good for; one without any is for hooks of an artifact. To
/// add a type, write its class, and its name into `META-INF/services/dev.berth.content.ContentType`.
public class ContentType {

    private final List<MediaType> mediaTypes;
    private final List<String> fileEndings;

    /// @param mediaTypes its names without parameters, SageMaker's first
    /// @param fileEndings such as `json` for `sample.json`
    protected ContentType(List<MediaType> mediaTypes, List<String> fileEndings) {
        this.mediaTypes = mediaTypes;
        this.fileEndings = fileEndings;
    }

    public final List<MediaType> mediaTypes() {
        return mediaTypes;
    }

    public final List<String> fileEndings() {
        return fileEndings;
    }

    /// Records can be read and written as objects with named fields.
    public interface OfDocuments {

        /// @param fields the fields of a record, in lower case, for a type whose records need not name
        ///   theirs
        /// @throws BadInputException when the payload is empty or broken
        Documents readDocuments(InvocationRequest request, List<String> fields) throws IOException;

        /// @param documents for each record an object or a list of objects, as plain Java, or a
        ///   [RecordError]
        /// @param fields the fields of an object, in the order of columns
        /// @param form how the records were written
        /// @param accept the name under which the type was asked for
        InvocationResponse writeDocuments(List<?> documents, List<String> fields, Instances.Form form, MediaType accept)
                throws IOException;
    }

    /// Each line is a record, so that a bad one can fail alone.
    public interface OfLines {}

    /// Records can be read as tensors.
    public interface ToTensors {

        /// @throws BadInputException when the payload is empty or broken
        /// @throws UnsupportedMediaTypeException when the type can't hold so many inputs
        TensorRecords readTensors(InvocationRequest request, TensorInputs inputs) throws IOException;
    }

    /// Records can be read and written as tensors: one output of the model alone, several by their
    /// names.
    public interface OfTensors extends ToTensors {

        /// @param accept the name under which the type was asked for
        /// @throws NotAcceptableException when the type can't hold these
        InvocationResponse writeTensors(TensorPredictions predictions, MediaType accept) throws IOException;
    }
}
